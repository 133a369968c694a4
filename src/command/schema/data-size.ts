// dataSize: bytes and number of the documents of a collection, or of those between two keys of an index.

import { CommandError } from '../../base/errors.ts';
import { compareValues, Document, getField, parsePath, type Value } from '../../bson/index.ts';
import { parseNamespace, type CatalogTransaction, type Collection } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { boolField, numberField, objectField, required, stringField } from '../fields.ts';
import { reading } from '../storage-scope.ts';

interface KeyBounds {
  readonly pattern: Document;
  readonly min: Document;
  readonly max: Document;
}

function compareKeys(pattern: Document, a: readonly Value[], b: readonly Value[]): number {
  const directions = pattern.fields.map(([, direction]) => (direction === -1 ? -1 : 1));
  for (const [at, direction] of directions.entries()) {
    const order = compareValues(a[at] ?? null, b[at] ?? null) * direction;
    if (order !== 0) return order;
  }
  return 0;
}

/** The fields of the bounds that the index begins with. */
function boundsOf(collection: Collection, given: { keyPattern?: Document | undefined; min: Document; max: Document }): KeyBounds {
  const wanted = given.keyPattern?.keys() ?? given.min.keys();
  const index = collection.indexes.find(({ paths }) => wanted.every((path, at) => paths[at] === path));
  if (index === undefined) throw new CommandError(96, 'OperationFailed', "couldn't find valid index containing key pattern");
  return { pattern: index.key, min: given.min, max: given.max };
}

/** Whether a document's key is at or above `min` and below `max`. */
function isBetween(bounds: KeyBounds): (document: Document) => boolean {
  const { pattern } = bounds;
  const paths = pattern.keys().slice(0, bounds.min.fields.length);
  const parsed = paths.map((path) => parsePath(path));
  const [min, max] = [bounds.min, bounds.max].map((bound) => paths.map((path) => bound.get(path) ?? null));
  return (document) => {
    const key = parsed.map((path) => getField(document, path) ?? null);
    return compareKeys(pattern, key, min ?? []) >= 0 && compareKeys(pattern, key, max ?? []) < 0;
  };
}

interface Sum {
  rows: number;
  bytes: number;
  /** It went beyond a limit and ended there. */
  maxReached?: boolean;
}

/** The count ends with the document that goes beyond one of these; 0: no limit. */
interface Limits {
  readonly rows: number;
  readonly bytes: number;
}

/** Counts the documents that are counted, until there are more than the limits say. */
async function sizeOf(context: CommandContext, txn: CatalogTransaction, collection: Collection, { counts, limits }: { readonly counts: (document: Document) => boolean; readonly limits: Limits }): Promise<Sum> {
  const sum: Sum = { rows: 0, bytes: 0 };
  const cursor = collection.scan(txn, {}, 1);
  try {
    for (;;) {
      await context.operation.turn();
      const batch = await cursor.nextBatch({ rows: 256, bytes: 1 << 20 });
      if (batch.length === 0) return sum;
      for (let at = 0; at < batch.length; at++) {
        if (!counts(Document.fromBytes(batch.value(at)))) continue;
        sum.rows += 1;
        sum.bytes += batch.value(at).length;
        if ((limits.rows > 0 && sum.rows > limits.rows) || (limits.bytes > 0 && sum.bytes > limits.bytes)) return { ...sum, maxReached: true };
      }
    }
  } finally {
    cursor.close();
  }
}

const dataSize: Command = defineCommand({
  name: 'dataSize',
  aliases: ['datasize'],
  access: 'read',
  about: 'bytes of the documents of a collection',
  fields: { dataSize: required(stringField), keyPattern: objectField, min: objectField, max: objectField, estimate: boolField, maxSize: numberField, maxObjects: numberField },
  run: (context, { dataSize: text, keyPattern, min, max, estimate, maxSize = 0, maxObjects = 0 }) => {
    const ns = parseNamespace(text);
    if ((min === undefined) !== (max === undefined)) throw new CommandError(2, 'BadValue', 'only one of min or max specified');
    const { clock } = context.server.env;
    const startedMs = clock.monotonicMs();
    return reading(context, async (txn) => {
      const collection = await context.server.catalog.collection(txn, ns);
      if (collection?.options.timeSeries !== undefined) throw new CommandError(166, 'CommandNotSupportedOnView', `Namespace ${ns.text} is a time series, not a collection`);
      let size: Sum = collection?.totals(txn) ?? { rows: 0, bytes: 0 };
      const isLimited = maxSize > 0 || maxObjects > 0;
      if (collection !== undefined && (isLimited || min !== undefined)) {
        const counts = min === undefined || max === undefined ? () => true : isBetween(boundsOf(collection, { keyPattern, min, max }));
        size = await sizeOf(context, txn, collection, { counts, limits: { rows: maxObjects, bytes: maxSize } });
      }
      return { estimate: estimate ?? false, size: BigInt(size.bytes), numObjects: BigInt(size.rows), maxReached: size.maxReached, millis: BigInt(Math.round(clock.monotonicMs() - startedMs)) };
    });
  },
});

export const DATA_SIZE_COMMANDS: readonly Command[] = [dataSize];
