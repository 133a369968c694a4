// The catalog: databases, collections and indexes over the engine's dictionaries (server.md, "Catalog and indexes").

export { describeDictionaryOptions } from './dictionary-option.ts';
export { equalKeys } from './index-spec.ts';
export { exactValues } from './slot-key.ts';
export { putDocument } from './put-document.ts';
export { afterSoon } from './soon.ts';
export { textFieldsOf } from './special/text-keys.ts';
export { wildcardPathField, wildcardShapeOf } from './special/wildcard-keys.ts';
export type { WildcardShape } from './special/wildcard-keys.ts';
export { fastUpdateErrors, updateTable } from './fast-update.ts';
export { openCatalog } from './open.ts';
export { compareTimes } from './oplog/operation-cursor.ts';
export type { Operation, OperationClock, OperationCursor, OperationKind } from './oplog/operation.ts';
export { applyDiff } from './oplog/apply-diff.ts';
export { shapeOfUpdate, visitDiff } from './oplog/update-diff.ts';
export type { ChangeShape, PathStep } from './oplog/update-diff.ts';
export { Namespace, checkCreatable, checkDatabaseName, namespaceOf, parseNamespace } from './namespace.ts';
export { gridOf } from './special/geo-keys.ts';
export { salvagedName } from './salvage.ts';
export type { SalvagedName } from './salvage.ts';
export type {
  Catalog,
  CatalogChoices,
  CatalogTransaction,
  Collection,
  CollectionCheck,
  CollectionLoad,
  CollectionOptions,
  CollectionStorage,
  Index,
  IndexBuild,
  IndexChoice,
  IndexDefinition,
  IndexEntry,
  IndexesCreated,
  IndexKept,
  InsertChoices,
  OperationLog,
  PartitionInfo,
  PreparedDocument,
  RecordKey,
  StorageFigures,
  View,
} from './types.ts';
/** The engine's types that those above the catalog need; they reach the engine through the catalog only. */
export type { Batch, BatchLimit, Cursor, DictionaryId, Direction, KeyRange, Seq, Soon, Totals, TransactionMode, TreeLevel } from '../engine/index.ts';
export type { TimeSeriesOptions } from './time-series.ts';
