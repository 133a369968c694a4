// `$meta`: what is known of a document beside its fields. Only the score of a text search is kept; of what belongs to search servers documents have nothing.
// Follows the manual's page "$meta".

import { Double } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { textScoreOf } from '../text/text-score.ts';
import { nameOf } from './define.ts';
import type { Compiler, OperatorTable } from './compiler.ts';
import type { Expression } from './expression.ts';

const others: ReadonlySet<string> = new Set(['randVal', 'searchScore', 'searchHighlights', 'geoNearDistance', 'geoNearPoint', 'recordId', 'indexKey', 'sortKey', 'searchScoreDetails', 'vectorSearchScore', 'timeseriesBucketMinTime', 'timeseriesBucketMaxTime', 'searchSequenceToken', 'score', 'scoreDetails', 'stream']);
const nothing: Expression = { evaluate: () => undefined, form: { kind: 'other' } };

function compileMeta(argument: Value, compiler: Compiler): Expression {
  if (typeof argument !== 'string') throw refuse(17307, `$meta only supports string arguments, found ${nameOf(argument)}`);
  if (argument === 'textScore') {
    if (compiler.options.textScore !== true) throw refuse(40218, 'query requires text score metadata, but it is not available');
    compiler.dependencies.addWhole();
    return {
      evaluate: (root) => {
        const score = textScoreOf(root);
        return score === undefined ? undefined : new Double(score);
      },
      form: { kind: 'other' },
    };
  }
  if (!others.has(argument)) throw refuse(17308, `Unsupported argument to $meta: ${argument}`);
  if (argument === 'geoNearDistance' || argument === 'geoNearPoint') throw refuse(40218, 'query requires $geoNear distance metadata, but it is not available');
  return nothing;
}

/** The operators, by name. */
export const metaOperators: OperatorTable = { $meta: compileMeta };
