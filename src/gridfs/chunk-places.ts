// Where the chunks of a file are: their record keys in order of n, by the index {files_id: 1, n: 1} that drivers make, or, in a bucket that
// lost it, by a walk over the whole collection. Keys are found in the transaction that is given; under a later one they may be gone.

import { compareBytes } from '../base/bytes.ts';
import { ByteSink, elementValue, encodeKey, encodeRawKeyPart, FieldName, findField, keyAfter } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { CatalogTransaction, Collection, Index, RecordKey } from '../catalog/index.ts';
import { readChunkNumber } from './chunk-document.ts';

/** Chunk numbers from `first` to `last`, both inside. */
export interface ChunkSpan {
  readonly first: number;
  readonly last: number;
}

/** Where one chunk is. */
export interface NumberedPlace {
  /** NaN where it is no number. */
  readonly n: number;
  readonly key: RecordKey;
}

const rowsAtOnce = { rows: 256, bytes: 1 << 20 };
const filesIdName = new FieldName('files_id');

/** The index that finds every chunk of a file, in order; undefined in a bucket that lost it. */
export function chunkIndex(collection: Collection): Index | undefined {
  return collection.indexes.find(({ paths, directions, sparse, partialFilter }) => {
    const inOrder = paths.length === 2 && paths[0] === 'files_id' && paths[1] === 'n' && directions[0] === 1 && directions[1] === 1;
    return inOrder && !sparse && partialFilter === undefined;
  });
}

/** Record keys of the chunks of file `id` within `span` in order of n; without one all, also those whose n is no number. */
export async function* chunkKeys(txn: CatalogTransaction, collection: Collection, id: Value, span?: ChunkSpan): AsyncGenerator<RecordKey, void> {
  const index = chunkIndex(collection);
  if (index === undefined) {
    for (const { n, key } of await walkForChunks(txn, collection, id)) if (isWithin(n, span)) yield key;
    return;
  }
  const whole = encodeKey([id]);
  const from = span === undefined ? whole : encodeKey([id, span.first]);
  const to = keyAfter(span === undefined ? whole : encodeKey([id, span.last]));
  const cursor = index.scan(txn, to === undefined ? { from } : { from, to }, 1);
  try {
    for (;;) {
      const batch = await cursor.nextBatch(rowsAtOnce);
      if (batch.length === 0) return;
      for (let i = 0; i < batch.length; i++) yield index.entry(batch.key(i), batch.value(i)).recordKey;
    }
  } finally {
    cursor.close();
  }
}

/** Whether a chunk of this number is asked for. */
export function isWithin(n: number, span: ChunkSpan | undefined): boolean {
  return span === undefined || (n >= span.first && n <= span.last);
}

/** All chunks of a file in order of n, found without an index: reads the whole collection. */
export async function walkForChunks(txn: CatalogTransaction, collection: Collection, id: Value): Promise<readonly NumberedPlace[]> {
  const wanted = encodeKey([id]);
  const sink = new ByteSink(64);
  const found: NumberedPlace[] = [];
  const cursor = collection.scan(txn, {}, 1);
  try {
    for (;;) {
      const batch = await cursor.nextBatch(rowsAtOnce);
      if (batch.length === 0) break;
      for (let i = 0; i < batch.length; i++) {
        const document = batch.value(i);
        if (isOfFile(document, wanted, sink)) found.push({ n: readChunkNumber(document, 0), key: batch.key(i).slice() });
      }
    }
  } finally {
    cursor.close();
  }
  return found.sort(byNumber);
}

function byNumber(a: NumberedPlace, b: NumberedPlace): number {
  if (a.n < b.n) return -1;
  return a.n > b.n ? 1 : compareBytes(a.key, b.key);
}

function isOfFile(document: Uint8Array, wanted: Uint8Array, sink: ByteSink): boolean {
  const offset = findField(document, 0, filesIdName);
  if (offset < 0) return false;
  sink.length = 0;
  encodeRawKeyPart(sink, document, document[offset] as number, elementValue(document, offset), 1);
  return sink.length === wanted.length && compareBytes(sink.bytes.subarray(0, sink.length), wanted) === 0;
}
