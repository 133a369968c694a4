// What the planner promises: from a compiled filter, sort and projection over one collection to documents in batches, by the cheapest
// way through its indexes, and an account of that way in MongoDB's shape (server.md, "Queries"). Contracts only.

import type { Document, Value } from '../bson/index.ts';
import type { CatalogTransaction, Collection, Namespace, RecordKey } from '../catalog/index.ts';
import type { Collation } from '../collation/index.ts';
import type { Workspace } from '../exec/index.ts';
import type { Filter, Projection, SortKey } from '../query/index.ts';
import type { BatchSource, OperationContext } from '../session/index.ts';
import type { Interruptible, Renewal } from './row.ts';

/** What is asked of one collection. `filter`, `sort` and `projection` are compiled; the rest is as the client gave it. */
export interface QueryRequest {
  /** What the plan is for: `documents` (open), `keyed` (openKeyed) or `count`; `documents` when absent. */
  readonly purpose?: 'documents' | 'keyed' | 'count' | undefined;
  readonly filter: Filter;
  /** How texts are compared; the filter and the sort were compiled under it. */
  readonly collation?: Collation | undefined;
  readonly sort?: SortKey | undefined;
  readonly projection?: Projection | undefined;
  /** The documents that these were compiled from, for `explain`. */
  readonly given?: { readonly filter?: Document | undefined; readonly sort?: Document | undefined; readonly projection?: Document | undefined } | undefined;
  /** Without projection: the only paths that will be read (of a pipeline), so that an index may answer alone. */
  readonly fieldsNeeded?: readonly string[] | undefined;
  /** The path whose different values are wanted: documents that have one again may be left out. */
  readonly distinct?: string | undefined;
  /** Without a sort: whether the order of the documents means nothing to whoever reads them. */
  readonly anyOrder?: boolean | undefined;
  readonly skip?: number | undefined;
  /** Absent or 0: no limit. */
  readonly limit?: number | undefined;
  /** A name of an index, a key pattern, or `{ $natural: 1 | -1 }`. */
  readonly hint?: Value | undefined;
  readonly min?: Document | undefined;
  readonly max?: Document | undefined;
  readonly returnKey?: boolean | undefined;
  readonly showRecordId?: boolean | undefined;
  /** Whether documents carry the key of the index that they are found by (`$meta`). */
  readonly carriesKey?: boolean | undefined;
  /** Opens a place for a sort of more than that; absent: nothing may be written. */
  readonly workspace?: Workspace | undefined;
  /** Most bytes a sort that no index gives may hold: 100 MiB when absent. Beyond: 292. */
  readonly sortBytesMax?: number | undefined;
}

/** A document and the key to lock, read again, update or remove it by. */
export interface KeyedDocument {
  readonly key: RecordKey;
  readonly document: Document;
}

/** As BatchSource, for writers: documents before projection, with their keys. A document is given once. */
export interface KeyedSource {
  next(context: Interruptible): Promise<readonly KeyedDocument[] | undefined>;
  close(): void;
}

export type ExplainVerbosity = 'queryPlanner' | 'executionStats' | 'allPlansExecution';

/** A source whose snapshot can be given up between two batches. */
export interface ReleasableSource extends BatchSource {
  /**
   * Gives the snapshot up (the transaction that the plan was made in may then be ended): the next batch goes on in one that `renewal` begins,
   * which the source ends itself. Documents that came or went meanwhile may be seen or not; none is given twice by one scan. If the
   * collection or the index has gone, the next batch is 175 QueryPlanKilled. Does nothing where there is no `renewal`.
   */
  release(): void;
}

/** A stage around those of a plan: the projection, COUNT, UPDATE. */
export interface OuterStage {
  readonly name: string;
  readonly details: readonly (readonly [string, Value])[];
  /** What it has counted, shown where it was run; it may ask how many rows came from below. */
  readonly counts?: readonly (readonly [string, Value])[] | ((rows: number) => readonly (readonly [string, Value])[]);
  /** How many documents it gives, where these are not the plan's. */
  readonly returned?: number;
}

/** A chosen way to answer one request in one transaction; between batches it holds only the snapshot and a key. */
export interface Plan {
  /**
   * The documents, sorted, cut and projected. They are the caller's to keep. Each `open` runs it anew. With `renewal` the source can give its
   * snapshot up while nobody asks for documents.
   */
  open(renewal?: Renewal): ReleasableSource;
  /** Without projection, for update and delete. */
  openKeyed(): KeyedSource;
  /** How many documents there are (skip and limit obeyed), without fetching them where the index says enough. */
  count(context: Interruptible): Promise<number>;
  /** `explainVersion`, `queryPlanner` and, if asked for, `executionStats` (then it runs): the first fields of the reply, in order. `outer`: the stage that changes what the plan finds. */
  explain(context: OperationContext, verbosity: ExplainVerbosity, outer?: OuterStage): Promise<readonly (readonly [string, Value])[]>;
  /** Short text of the way: `IXSCAN { a: 1 }`, for logs. */
  readonly summary: string;
}

/** What `distinct` asks. */
export interface DistinctRequest {
  /** The path whose values are wanted; elements of arrays count singly. */
  readonly field: string;
  readonly filter: Filter;
  readonly collation?: Collation | undefined;
  readonly hint?: Value | undefined;
}

/** Where a query looks: a collection as the transaction sees it; `collection` undefined: there is none, the answer is empty. */
/** A plan that runs. */
export interface PlanRun {
  /** As the log shows it: `IXSCAN { a: 1 }`. */
  readonly summary: string;
  /** Names of the indexes that it reads. */
  readonly indexes: readonly string[];
  /** What it has read so far. */
  examined(): { readonly keys: number; readonly documents: number };
  readonly namespace: string;
  /** Whether it was chosen over others. */
  readonly hadChoice: boolean;
  /** The shape of the query, as index filters know it. */
  shape(): string;
  /** What each stage did so far, and whether one of them sorted. */
  executed(): { readonly stages: Document; readonly sorts: boolean; readonly shapeHash: string; readonly keyHash: string };
  account(): PlannedQuery;
}

/** A plan and the query that it was made for. */
export interface PlannedQuery {
  readonly shapeHash: string;
  readonly keyHash: string;
  readonly from: { readonly query: Document | undefined; readonly sort: Document | undefined; readonly projection: Document | undefined; readonly collation: Document | undefined };
  /** The tree of its stages. */
  readonly plan: Document;
  /** Whether an index filter was obeyed. */
  readonly filtered: boolean;
}

/** Names and key patterns of the indexes that a query of this shape may use; undefined: all. */
export type IndexFilterLookup = (shape: string) => readonly Value[] | undefined;

/** Whoever watches the plans of an operation. */
export interface PlanWatch {
  readonly indexFilters: IndexFilterLookup | undefined;
  /** Settings of the query, for `explain`. */
  readonly settings: Document | undefined;
  /** Names, key patterns and `$natural` that those settings allow on the collection; they outrank index filters and hints. */
  readonly settledIndexes: readonly Value[] | undefined;
  /** Told of each plan that is run; `explain` runs none. */
  ran(run: PlanRun): void;
}

export interface QueryTarget {
  readonly txn: CatalogTransaction;
  readonly ns: Namespace;
  readonly collection: Collection | undefined;
  readonly watch?: PlanWatch | undefined;
}
