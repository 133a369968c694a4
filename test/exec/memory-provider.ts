// Collections in arrays, for tests of stages: documents are written as plain JavaScript (a whole number is an int32, `{ $double: 1 }` a
// double), and come back so.


import { BsonArray, DateTime, Document, Double } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { compilePipeline } from '../../src/exec/index.ts';
import type { PipelineOptions, SourceProvider } from '../../src/exec/index.ts';
import { compileFilter, compileSort } from '../../src/query/index.ts';
import { OperationContext, sourceOf } from '../../src/session/index.ts';

/** Options of a pipeline in tests. */
export const options: PipelineOptions = { now: new DateTime(1_700_000_000_000), database: 'test', random: () => 0.5 };

/** A BSON value of plain JavaScript. */
export function valueOf(plain: unknown): Value {
  if (Array.isArray(plain)) return BsonArray.of(plain.map(valueOf));
  if (typeof plain === 'number') return Number.isInteger(plain) ? plain : new Double(plain);
  if (typeof plain === 'string' || typeof plain === 'boolean' || typeof plain === 'bigint' || plain === null) return plain;
  if (plain instanceof Double || plain instanceof DateTime) return plain;
  const fields = Object.entries(plain as Record<string, unknown>);
  if (fields[0]?.[0] === '$double') return new Double(fields[0][1] as number);
  return Document.fromEntries(fields.map(([name, value]) => [name, valueOf(value)]));
}

/** Plain JavaScript of a BSON value; a double comes as `{ $double: n }`. */
export function plain(value: Value | undefined): unknown {
  if (value instanceof BsonArray) return value.items().map(plain);
  if (value instanceof Document) return Object.fromEntries(value.fields.map(([name, field]) => [name, plain(field)]));
  if (value instanceof Double) return { $double: value.value };
  return value;
}

/** Documents as they lie in a collection: raw bytes. */
export function documentsOf(documents: readonly unknown[]): Document[] {
  return documents.map((document) => Document.fromBytes((valueOf(document) as Document).toBytes()));
}

/** A context that is never interrupted. */
export function operation(): OperationContext {
  let now = 0;
  const clock = { nowMs: () => 0, monotonicMs: () => (now += 0.5), wait: () => Promise.resolve(), sleep: () => Promise.resolve() };
  const connection = {
    id: 1,
    remote: 'test',
    local: 'test',
    metadata: undefined,
    user: '',
    certificateSubject: undefined,
    compressors: [],
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
  };
  return new OperationContext({ id: 1, clock, connection, endsWithClient: true });
}

/** Collections in memory. */
export function providerOf(collections: Readonly<Record<string, readonly unknown[]>>): SourceProvider {
  return {
    collection: (request) => {
      let documents = documentsOf(collections[request.collection] ?? []);
      if (request.filter !== undefined) {
        const filter = compileFilter(request.filter, { ...options, ...(request.variables === undefined ? {} : { variables: request.variables }) });
        documents = documents.filter((document) => filter.matches(document));
      }
      if (request.sort !== undefined) {
        const sort = compileSort(request.sort);
        documents.sort((left, right) => sort.compare(left, right));
      }
      documents = documents.slice(request.skip ?? 0);
      return Promise.resolve(sourceOf(request.limit === undefined ? documents : documents.slice(0, request.limit)));
    },
  };
}

/** Runs a pipeline over a collection, all of it in stages. */
export async function aggregate(
  collections: Readonly<Record<string, readonly unknown[]>>,
  collection: string,
  stages: readonly unknown[],
): Promise<unknown[]> {
  const pipeline = compilePipeline(valueOf(stages) as BsonArray, { ...options, collection });
  const source = sourceOf(pipeline.makesDocuments ? [] : documentsOf(collections[collection] ?? []));
  const opened = pipeline.open(source, providerOf(collections));
  const context = operation();
  const found: unknown[] = [];
  for (let batch = await opened.next(context); batch !== undefined; batch = await opened.next(context)) found.push(...batch.map(plain));
  opened.close();
  return found;
}
