// Finding file documents on another server, with the answers that file-search.ts gives here: the same order of values of any type, pages that begin
// behind a key.

import { decodeBase64, encodeBase64 } from '../base/base64.ts';
import { BsonArray, DateTime, Document, isNumber, validateDocument } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { FileError } from './file-error.ts';
import type { FilePage, FileQuery, FileSortField, StoredFile } from './file-store.ts';
import type { RemoteDriver } from './remote-driver.ts';
import { readFileDocument } from './stored-file.ts';

const revisionsCountedMax = 1000;

/** The file document with this id. */
export async function findById(driver: RemoteDriver, files: Namespace, id: Value): Promise<Document | undefined> {
  const [document] = await driver.all(files, { filter: equal('_id', id), limit: 1 });
  return document;
}

/** A filter for one value, whatever it is. */
export function equal(field: string, value: Value): Document {
  return Document.fromEntries([[field, Document.of({ $eq: value })]]);
}

/** A revision of a name: from the oldest (0, 1, …) or from the newest (-1, -2, …). */
export async function findRevision(driver: RemoteDriver, files: Namespace, filename: string, revision: number): Promise<StoredFile | undefined> {
  const direction = revision < 0 ? -1 : 1;
  const [document] = await driver.all(files, { filter: equal('filename', filename), sort: [['uploadDate', direction], ['_id', direction]], skip: revision < 0 ? -1 - revision : revision, limit: 1 });
  return document?.get('filename') === filename ? readFileDocument(document) : undefined;
}

/** How many files have a name; counting stops at a thousand. */
export function countRevisions(driver: RemoteDriver, files: Namespace, filename: string): Promise<number> {
  return driver.count(files, equal('filename', filename), revisionsCountedMax);
}

/** What files are ordered by: names are ordered further by their dates, as the index of drivers is. */
const orders: Readonly<Record<FileSortField, readonly string[]>> = { filename: ['filename', 'uploadDate', '_id'], uploadDate: ['uploadDate', '_id'], length: ['length', '_id'] };

/** One page of files. */
export async function listFiles(driver: RemoteDriver, files: Namespace, query: FileQuery): Promise<FilePage> {
  const { field, direction } = query.sort;
  const order = orders[field];
  const filter = Document.of({ $and: BsonArray.of([...order.map(noArray), ...prefixCondition(query.prefix), ...afterConditions(query)]) });
  const found: Document[] = [];
  for await (const document of driver.walk(files, { filter, sort: order.map((name) => [name, direction]) })) {
    const file = readFileDocument(document);
    if (query.prefix !== '' && file.filename?.startsWith(query.prefix) !== true) continue;
    if (query.accepts(file)) found.push(Document.fromBytes(document.toBytes().slice()));
    if (found.length > query.limit) break;
  }
  const page = found.slice(0, query.limit);
  const last = found.length > query.limit ? page.at(-1) : undefined;
  return { files: page.map(readFileDocument), next: last === undefined ? undefined : writeToken(order.map((name) => last.get(name) ?? null)) };
}

/** An array sorts by one of its elements and compares as a whole, so no page could begin behind it: a file with one there is in no list. */
function noArray(field: string): Document {
  return Document.fromEntries([[field, Document.of({ $not: Document.of({ $type: 'array' }) })]]);
}

function prefixCondition(prefix: string): readonly Document[] {
  if (prefix === '') return [];
  const escaped = prefix.replace(/[\\^$.*+?()[\]{}|\-/#&~]/g, '\\$&');
  return [Document.of({ filename: Document.of({ $regex: `^${escaped}` }) })];
}

/**
 * Behind the key, in the order of all values: comparisons of a filter only see values of the same type, so others are let through to an expression,
 * which compares all. The first condition is what an index can help with.
 */
function afterConditions({ after, sort: { field, direction } }: FileQuery): readonly Document[] {
  if (after === undefined) return [];
  const order = orders[field];
  const values = readToken(after, order.length);
  const [than, thanOrEqual] = direction > 0 ? ['$gt', '$gte'] : ['$lt', '$lte'];
  const compare = (operator: string, i: number): Document => {
    const stored = Document.of({ $ifNull: BsonArray.of([`$${order[i] ?? ''}`, null]) });
    return Document.fromEntries([[operator, BsonArray.of([stored, Document.of({ $literal: values[i] ?? null })])]]);
  };
  const behind = order.map((_, i) => Document.of({ $and: BsonArray.of([...order.slice(0, i).map((__, k) => compare('$eq', k)), compare(than, i)]) }));
  const exact = Document.of({ $expr: Document.of({ $or: BsonArray.of(behind) }) });
  const [value = null] = values;
  const type = typeAlias(value);
  if (type === undefined) return [exact];
  const near = Document.fromEntries([[field, Document.fromEntries([[thanOrEqual, value]])]]);
  const other = Document.fromEntries([[field, Document.of({ $not: Document.of({ $type: type }) })]]);
  return [Document.of({ $or: BsonArray.of([near, other]) }), exact];
}

function typeAlias(value: Value): string | undefined {
  if (typeof value === 'string') return 'string';
  if (value instanceof DateTime) return 'date';
  return isNumber(value) ? 'number' : undefined;
}

function writeToken(values: readonly Value[]): string {
  const bytes = Document.of({ k: BsonArray.of(values) }).toBytes();
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function readToken(text: string, count: number): readonly Value[] {
  const bytes = decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  const values = bytes === undefined ? undefined : documentIn(bytes)?.get('k');
  if (!(values instanceof BsonArray) || values.length !== count) throw new FileError('bad-name', 'after is not the end of a page');
  return values.items();
}

function documentIn(bytes: Uint8Array): Document | undefined {
  try {
    validateDocument(bytes, 0, bytes.length);
    return Document.fromBytes(bytes);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
