// Queries over a catalog, in short: find, count, explain, with or without an index.

import assert from 'node:assert/strict';
import { DateTime, Document } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { namespaceOf } from '../../src/catalog/index.ts';
import type { Catalog, CatalogTransaction } from '../../src/catalog/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { distinctValues, planQuery } from '../../src/plan/index.ts';
import type { Plan, QueryRequest } from '../../src/plan/index.ts';
import type { Collation } from '../../src/collation/index.ts';
import { compileFilter, compileProjection, compileSort } from '../../src/query/index.ts';
import { OperationContext } from '../../src/session/index.ts';
import type { BatchSource } from '../../src/session/index.ts';

const options = { now: new DateTime(0) };
const { clock } = await openMemoryEnv();

export const context: OperationContext = new OperationContext({
  id: 1,
  clock,
  connection: {
    id: 1,
    remote: 'test:1',
    local: 'test:2',
    metadata: undefined,
    user: '',
    certificateSubject: undefined,
    compressors: [],
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
  },
  endsWithClient: false,
});

/** A query as a shell would say it. */
export interface Find {
  readonly filter?: Document;
  readonly sort?: Document;
  readonly projection?: Document;
  readonly skip?: number;
  readonly limit?: number;
  readonly hint?: Value;
  readonly collation?: Collation | undefined;
  readonly purpose?: QueryRequest['purpose'];
  readonly more?: Partial<QueryRequest>;
}

const ns = namespaceOf('test', 'people');

export async function planFor(catalog: Catalog, txn: CatalogTransaction, find: Find): Promise<Plan> {
  const collection = await catalog.collection(txn, ns);
  const request: QueryRequest = {
    filter: compileFilter(find.filter ?? Document.empty, { ...options, collation: find.collation }),
    collation: find.collation,
    sort: find.sort === undefined ? undefined : compileSort(find.sort, find.collation),
    projection: find.projection === undefined ? undefined : compileProjection(find.projection, options),
    given: { filter: find.filter, sort: find.sort, projection: find.projection },
    skip: find.skip,
    limit: find.limit,
    hint: find.hint,
    purpose: find.purpose,
    ...find.more,
  };
  return planQuery({ txn, ns, collection }, request, context);
}

async function drain(source: BatchSource): Promise<Document[]> {
  const documents: Document[] = [];
  for (;;) {
    const batch = await source.next(context);
    if (batch === undefined) break;
    documents.push(...batch);
  }
  source.close();
  return documents;
}

export async function find(catalog: Catalog, query: Find): Promise<Document[]> {
  const txn = catalog.begin('read');
  try {
    return await drain((await planFor(catalog, txn, query)).open());
  } finally {
    txn.abort();
  }
}

export async function count(catalog: Catalog, query: Find): Promise<number> {
  const txn = catalog.begin('read');
  try {
    return await (await planFor(catalog, txn, { ...query, purpose: 'count' })).count(context);
  } finally {
    txn.abort();
  }
}

export async function distinct(catalog: Catalog, field: string, filter: Document = Document.empty): Promise<readonly Value[]> {
  const txn = catalog.begin('read');
  try {
    const collection = await catalog.collection(txn, ns);
    return await distinctValues({ txn, ns, collection }, { field, filter: compileFilter(filter, options) }, context);
  } finally {
    txn.abort();
  }
}

/** The names of the stages of the winning plan, the outermost first, depth first. */
export async function stages(catalog: Catalog, query: Find): Promise<string[]> {
  const names: string[] = [];
  const visit = (stage: Value | undefined): void => {
    assert(stage instanceof Document);
    const name = stage.get('stage');
    assert(typeof name === 'string');
    names.push(name);
    const inputs = stage.get('inputStages');
    if (inputs !== undefined && inputs !== null && typeof inputs === 'object' && 'items' in inputs) inputs.items().forEach(visit);
    else if (stage.has('inputStage')) visit(stage.get('inputStage'));
  };
  visit((await explain(catalog, query)).get('winningPlan'));
  return names;
}

/** `queryPlanner`. */
export async function explain(catalog: Catalog, query: Find): Promise<Document> {
  const txn = catalog.begin('read');
  const fields = await (await planFor(catalog, txn, query)).explain(context, 'queryPlanner');
  txn.abort();
  const planner = new Map(fields).get('queryPlanner');
  assert(planner instanceof Document);
  return planner;
}

/** `executionStats`. */
export async function run(catalog: Catalog, query: Find): Promise<Document> {
  const txn = catalog.begin('read');
  const fields = await (await planFor(catalog, txn, query)).explain(context, 'executionStats');
  txn.abort();
  const stats = new Map(fields).get('executionStats');
  assert(stats instanceof Document);
  return stats;
}
