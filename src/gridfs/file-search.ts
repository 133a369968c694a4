// Finding file documents: one by its id, the revisions of a name in order, a page of a list. A page begins behind a key, never after a number of
// rows, so files that come and go meanwhile neither hide others nor show them twice. Names go by the index {filename: 1, uploadDate: 1} of the
// drivers where the bucket has it; other orders read all file documents and keep the page's worth.

import { encodeBase64, decodeBase64 } from '../base/base64.ts';
import { BinaryHeap } from '../base/binary-heap.ts';
import { compareBytes } from '../base/bytes.ts';
import { ByteSink, Document, encodeKey, encodeKeyPart, encodeStringPrefix, keyAfter } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { CatalogTransaction, Collection, Cursor, Direction, Index, KeyRange } from '../catalog/index.ts';
import { FileError } from './file-error.ts';
import type { FilePage, FileQuery, StoredFile } from './file-store.ts';
import { readFileDocument } from './stored-file.ts';

const rowsAtOnce = { rows: 256, bytes: 1 << 20 };
const revisionsCountedMax = 1000;

/** The index by name and date, if it finds every file. */
export function nameIndex(collection: Collection): Index | undefined {
  return collection.indexes.find(({ paths, directions, sparse, partialFilter }) => {
    const inOrder = paths.length === 2 && paths[0] === 'filename' && paths[1] === 'uploadDate' && directions[0] === 1 && directions[1] === 1;
    return inOrder && !sparse && partialFilter === undefined;
  });
}

/** File documents of one collection, in one transaction. */
export class FileSearch {
  readonly #txn: CatalogTransaction;
  readonly #collection: Collection;

  constructor(txn: CatalogTransaction, collection: Collection) {
    this.#txn = txn;
    this.#collection = collection;
  }

  async byId(id: Value): Promise<StoredFile | undefined> {
    const document = await this.#collection.get(this.#txn, this.#collection.keyOf(id));
    return document === undefined ? undefined : readFileDocument(document);
  }

  /** Counted from the oldest (0, 1, …) or from the newest (-1, -2, …). */
  async revision(filename: string, revision: number): Promise<StoredFile | undefined> {
    let left = revision < 0 ? -1 - revision : revision;
    for await (const document of this.#named(filename, revision < 0 ? -1 : 1)) {
      if (left === 0) return readFileDocument(document);
      left -= 1;
    }
    return undefined;
  }

  async countRevisions(filename: string): Promise<number> {
    const index = nameIndex(this.#collection);
    if (index === undefined) return await countUpTo(this.#named(filename, 1));
    const cursor = index.scan(this.#txn, rangeOf(encodeKey([filename])), 1);
    try {
      const batch = await cursor.nextBatch({ ...rowsAtOnce, rows: revisionsCountedMax });
      return batch.length;
    } finally {
      cursor.close();
    }
  }

  /** Documents of this very name by upload date, then id. */
  async *#named(filename: string, direction: Direction): AsyncGenerator<Document, void> {
    const index = nameIndex(this.#collection);
    const isNamed = (document: Document): boolean => document.get('filename') === filename;
    if (index !== undefined) {
      for await (const document of this.#indexed(index, rangeOf(encodeKey([filename])), direction)) if (isNamed(document)) yield document;
      return;
    }
    const found: { readonly key: Uint8Array; readonly document: Document }[] = [];
    for await (const document of this.#all()) {
      if (isNamed(document)) found.push({ key: encodeKey([document.get('uploadDate') ?? null, document.get('_id') ?? null]), document });
    }
    found.sort((a, b) => direction * compareBytes(a.key, b.key));
    for (const { document } of found) yield document;
  }

  async *#indexed(index: Index, range: KeyRange, direction: Direction): AsyncGenerator<Document, void> {
    for await (const { key, value } of rowsOf(index.scan(this.#txn, range, direction))) {
      const document = await this.#collection.get(this.#txn, index.entry(key, value).recordKey);
      if (document !== undefined) yield document;
    }
  }

  async *#all(): AsyncGenerator<Document, void> {
    for await (const { value } of rowsOf(this.#collection.scan(this.#txn, {}, 1))) yield Document.fromBytes(value.slice());
  }

  async list(query: FileQuery): Promise<FilePage> {
    const { sort, prefix } = query;
    const after = query.after === undefined ? undefined : readToken(query.after);
    const index = nameIndex(this.#collection);
    if (index !== undefined && !index.isMultikey && sort.field === 'filename') return await this.#listByName(index, query, after);
    const documents = index === undefined || index.isMultikey || prefix === '' ? this.#all() : this.#indexed(index, rangeOf(encodeStringPrefix(prefix, 1)), 1);
    return await pageOf(documents, query, after);
  }

  async #listByName(index: Index, query: FileQuery, after: Uint8Array | undefined): Promise<FilePage> {
    const { direction } = query.sort;
    const whole = query.prefix === '' ? {} : rangeOf(encodeStringPrefix(query.prefix, 1));
    const found: Listed[] = [];
    for await (const document of this.#indexed(index, behind(whole, after, direction), direction)) {
      const file = readFileDocument(document);
      if (!isAsked(file, query)) continue;
      found.push({ key: nameKey(document), file });
      if (found.length > query.limit) break;
    }
    return page(found, query.limit);
  }
}

interface Listed {
  readonly key: Uint8Array;
  readonly file: StoredFile;
}

/** The smallest `limit` and one more, of those behind `after`. */
async function pageOf(documents: AsyncIterable<Document>, query: FileQuery, after: Uint8Array | undefined): Promise<FilePage> {
  const best = new BinaryHeap<Listed>((a, b) => compareBytes(b.key, a.key));
  for await (const document of documents) {
    const key = sortKey(document, query.sort);
    const last = best.size > query.limit ? best.peek() : undefined;
    if (after !== undefined && compareBytes(key, after) <= 0) continue;
    if (last !== undefined && compareBytes(key, last.key) >= 0) continue;
    const file = readFileDocument(document);
    if (!isAsked(file, query)) continue;
    best.push({ key, file });
    if (best.size > query.limit + 1) best.pop();
  }
  const found: Listed[] = [];
  for (let next = best.pop(); next !== undefined; next = best.pop()) found.unshift(next);
  return page(found, query.limit);
}

function page(found: readonly Listed[], limit: number): FilePage {
  const files = found.slice(0, limit);
  const last = found.length > limit ? files.at(-1) : undefined;
  return { files: files.map(({ file }) => file), next: last === undefined ? undefined : writeToken(last.key) };
}

function isAsked(file: StoredFile, { prefix, accepts }: FileQuery): boolean {
  return (prefix === '' || file.filename?.startsWith(prefix) === true) && accepts(file);
}

function sortKey(document: Document, { field, direction }: FileQuery['sort']): Uint8Array {
  const sink = new ByteSink(64);
  encodeKeyPart(sink, document.get(field) ?? null, direction);
  encodeKeyPart(sink, document.get('_id') ?? null, direction);
  return sink.toBytes();
}

/** The row's key in the index by name. */
function nameKey(document: Document): Uint8Array {
  return encodeKey([document.get('filename') ?? null, document.get('uploadDate') ?? null, document.get('_id') ?? null]);
}

/** Base64 that needs no escaping in a URL. */
function writeToken(key: Uint8Array): string {
  return encodeBase64(key).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function readToken(text: string): Uint8Array {
  const bytes = decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  if (bytes === undefined || bytes.length === 0) throw new FileError('bad-name', 'after is not the end of a page');
  return bytes;
}

function rangeOf(prefix: Uint8Array): KeyRange {
  const to = keyAfter(prefix);
  return to === undefined ? { from: prefix } : { from: prefix, to };
}

/** The part of the range that is behind the row with this key, in the direction of the scan. */
function behind(range: KeyRange, key: Uint8Array | undefined, direction: Direction): KeyRange {
  if (key === undefined) return range;
  if (direction < 0) return range.to !== undefined && compareBytes(key, range.to) > 0 ? range : { ...range, to: key };
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return range.from !== undefined && compareBytes(next, range.from) < 0 ? range : { ...range, from: next };
}

async function countUpTo(documents: AsyncIterable<Document>): Promise<number> {
  const iterator = documents[Symbol.asyncIterator]();
  let count = 0;
  while (count < revisionsCountedMax && (await iterator.next()).done !== true) count += 1;
  await iterator.return?.();
  return count;
}

interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Rows of a cursor, which is closed at the end or when the caller stops. Views: copy what is kept. */
async function* rowsOf(cursor: Cursor): AsyncGenerator<Row, void> {
  try {
    for (;;) {
      const batch = await cursor.nextBatch(rowsAtOnce);
      if (batch.length === 0) return;
      for (let i = 0; i < batch.length; i++) yield { key: batch.key(i), value: batch.value(i) };
    }
  } finally {
    cursor.close();
  }
}
