// Expressions as transcripts (testdata/expression/): `eval`, an expression in extended JSON, perhaps the document on the next line; the
// answer is the value in canonical extended JSON, `missing`, or `error` and MongoDB's code. Values are those of the manual's examples.

import { CommandError } from '../../../src/base/errors.ts';
import { DateTime, Document, fromExtendedJson, toExtendedJson } from '../../../src/bson/index.ts';
import { compileExpression } from '../../../src/query/index.ts';
import { transcripts } from '../../support/datadriven.ts';
import type { Directive } from '../../support/datadriven.ts';

const options = { now: new DateTime(1_700_000_000_000), random: (): number => 0.5 };

function answer({ input }: Directive): string {
  const [expression = '', document = '{}'] = input.split('\n');
  try {
    const root = fromExtendedJson(document);
    if (!(root instanceof Document)) return 'the second line is no document';
    const value = compileExpression(fromExtendedJson(expression), options).evaluate(Document.fromBytes(root.toBytes()));
    return value === undefined ? 'missing' : toExtendedJson(value, 'canonical');
  } catch (error) {
    if (error instanceof CommandError) return `error ${error.code}`;
    throw error;
  }
}

transcripts(import.meta.url, 'expression', () => answer);
