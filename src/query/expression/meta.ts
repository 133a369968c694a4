// `$meta`: what is known of a document beside its fields: the score of a text search, the distance of `$near`. Of what belongs to search servers
// documents have nothing.
// Follows the manual's page "$meta".

import { Double } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { metadataOf } from '../metadata.ts';
import type { Metadata, MetadataKinds } from '../metadata.ts';
import { nameOf } from './define.ts';
import type { Compiler, OperatorTable } from './compiler.ts';
import type { Expression } from './expression.ts';

const others: ReadonlySet<string> = new Set(['randVal', 'searchScore', 'searchHighlights', 'recordId', 'sortKey', 'searchScoreDetails', 'vectorSearchScore', 'timeseriesBucketMinTime', 'timeseriesBucketMaxTime', 'searchSequenceToken', 'score', 'scoreDetails', 'stream']);
const nothing: Expression = { evaluate: () => undefined, form: { kind: 'other' } };

/** What only some queries have. */
interface Demanded {
  readonly kind: keyof MetadataKinds;
  /** MongoDB's words for it. */
  readonly words: string;
  readonly read: (metadata: Metadata) => Value | undefined;
}

const asDouble = (number: number | undefined): Double | undefined => (number === undefined ? undefined : new Double(number));

const demanded: ReadonlyMap<string, Demanded> = new Map<string, Demanded>([
  ['textScore', { kind: 'text', words: 'text score', read: ({ textScore }) => asDouble(textScore) }],
  ['geoNearDistance', { kind: 'near', words: '$geoNear distance', read: ({ geoNearDistance }) => asDouble(geoNearDistance) }],
  ['geoNearPoint', { kind: 'near', words: '$geoNear point', read: ({ geoNearPoint }) => geoNearPoint }],
]);

/** Refuses to speak of what the documents of a query do not have. */
export function demandMetadata(name: string, kinds: MetadataKinds | undefined): void {
  const metadata = demanded.get(name);
  if (metadata !== undefined && kinds?.[metadata.kind] !== true) throw refuse(40218, `query requires ${metadata.words} metadata, but it is not available`);
}

function compileMeta(argument: Value, compiler: Compiler): Expression {
  if (typeof argument !== 'string') throw refuse(17307, `$meta only supports string arguments, found ${nameOf(argument)}`);
  if (argument === 'indexKey') {
    compiler.dependencies.addWhole();
    compiler.dependencies.addIndexKey();
    return { evaluate: (root) => metadataOf(root)?.indexKey, form: { kind: 'other' } };
  }
  const metadata = demanded.get(argument);
  if (metadata === undefined) {
    if (!others.has(argument)) throw refuse(17308, `Unsupported argument to $meta: ${argument}`);
    return nothing;
  }
  demandMetadata(argument, compiler.options.metadata);
  compiler.dependencies.addWhole();
  return {
    evaluate: (root) => {
      const known = metadataOf(root);
      return known === undefined ? undefined : metadata.read(known);
    },
    form: { kind: 'other' },
  };
}

/** The operators, by name. */
export const metaOperators: OperatorTable = { $meta: compileMeta };
