// One document in place of another: `$replaceRoot` and `$replaceWith`, as stages and in pipelines of updates.
// Follows the manual's page "$replaceRoot (aggregation)".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { createCompiler } from './compile.ts';
import { describeMaybe, nameOf } from './define.ts';
import type { Dependencies, ExpressionOptions } from './expression.ts';

/** A compiled replacement. */
export interface Replacement {
  readonly apply: (document: Document) => Document;
  readonly dependencies: Dependencies;
}

/** Compiles the new root of `$replaceRoot` (`named`: with its `newRoot`) or of `$replaceWith`. */
export function compileReplacement(specification: Value, options: ExpressionOptions, named: boolean): Replacement {
  const compiler = createCompiler(options);
  const { evaluate } = compiler.compile(named ? newRootOf(specification) : specification);
  const apply = (document: Document): Document => {
    const root = evaluate(document);
    if (root instanceof Document) return root;
    const what = `'newRoot' expression  must evaluate to an object, but resulting value was: ${describeMaybe(root)}`;
    throw refuse(40228, `${what}. Type of resulting value: '${nameOf(root)}'.`);
  };
  return { apply, dependencies: compiler.dependencies };
}

function newRootOf(specification: Value): Value {
  if (!(specification instanceof Document)) {
    throw refuse(40229, `expected an object as specification for $replaceRoot stage, got ${nameOf(specification)}`);
  }
  const unknown = specification.keys().find((name) => name !== 'newRoot');
  if (unknown !== undefined) throw refuse(40415, `BSON field '$replaceRoot.${unknown}' is an unknown field.`);
  const root = specification.get('newRoot');
  if (root === undefined) throw refuse(40414, `BSON field '$replaceRoot.newRoot' is missing but a required field`);
  return root;
}
