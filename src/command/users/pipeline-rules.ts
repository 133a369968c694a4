// What a pipeline needs to be allowed: reading its collection, reading what its stages read, writing where it writes, and the server's own
// figures where a stage tells them. Every part is looked at, also inside `$lookup`, `$facet` and `$unionWith`.

import { clusterTarget, databaseTarget, namespaceTarget } from '../../auth/index.ts';
import { Document, type Value } from '../../bson/index.ts';
import { documentsIn, type Asks } from './asks.ts';

type StageRule = (asks: Asks, specification: Value, collection: string) => boolean;

function textAt(value: Value, field: string): string | undefined {
  const text = value instanceof Document ? value.get(field) : undefined;
  return typeof text === 'string' ? text : undefined;
}

function pipelineAt(value: Value, field: string): Value | undefined {
  return value instanceof Document ? value.get(field) : undefined;
}

/** Reading another collection of the same database, and what a pipeline over it needs. */
function readsOther(field: string): StageRule {
  return (asks, specification) => {
    const name = typeof specification === 'string' ? specification : textAt(specification, field);
    const inner = pipelineAt(specification, 'pipeline');
    if (name === undefined) return inner === undefined || mayRunStages(asks, inner, '');
    return asks.may(namespaceTarget(asks.db, name), 'find') && mayRunStages(asks, inner, name);
  };
}

const facet: StageRule = (asks, specification, collection) =>
  !(specification instanceof Document) || specification.fields.every(([, stages]) => mayRunStages(asks, stages, collection));

/** Where `$out` and `$merge` write: a name, or a document with database and name. */
function outputTarget(asks: Asks, value: Value | undefined, field: string): { db: string; collection: string } {
  if (typeof value === 'string') return { db: asks.db, collection: value };
  if (value instanceof Document) return { db: textAt(value, 'db') ?? asks.db, collection: textAt(value, field) ?? '' };
  return { db: asks.db, collection: '' };
}

const out: StageRule = (asks, specification) => {
  const { db, collection } = outputTarget(asks, specification, 'coll');
  const bypass = asks.says('bypassDocumentValidation') ? (['bypassDocumentValidation'] as const) : [];
  return asks.may(namespaceTarget(db, collection), 'insert', 'remove', ...bypass);
};

const merge: StageRule = (asks, specification) => {
  const into = typeof specification === 'string' ? specification : pipelineAt(specification, 'into');
  const { db, collection } = outputTarget(asks, into, 'coll');
  const target = namespaceTarget(db, collection);
  const matched = textAt(specification, 'whenMatched') ?? 'merge';
  const unmatched = textAt(specification, 'whenNotMatched') ?? 'insert';
  if (asks.says('bypassDocumentValidation') && !asks.may(target, 'bypassDocumentValidation')) return false;
  if (unmatched === 'insert' && !asks.may(target, 'insert')) return false;
  return matched === 'keepExisting' || matched === 'fail' || asks.may(target, 'update');
};

const changeStream: StageRule = (asks, specification, collection) => {
  const all = specification instanceof Document && specification.get('allChangesForCluster') === true;
  if (all) return asks.may(databaseTarget(''), 'changeStream', 'find');
  return asks.may(collection === '' ? databaseTarget(asks.db) : namespaceTarget(asks.db, collection), 'changeStream', 'find');
};

const currentOp: StageRule = (asks, specification) =>
  (specification instanceof Document && specification.get('allUsers') !== true) || asks.may(clusterTarget, 'inprog');

const STAGES: ReadonlyMap<string, StageRule> = new Map<string, StageRule>([
  ['$lookup', readsOther('from')],
  ['$graphLookup', readsOther('from')],
  ['$unionWith', readsOther('coll')],
  ['$facet', facet],
  ['$out', out],
  ['$merge', merge],
  ['$changeStream', changeStream],
  ['$collStats', (asks, _specification, collection) => asks.may(namespaceTarget(asks.db, collection), 'collStats')],
  ['$indexStats', (asks, _specification, collection) => asks.may(namespaceTarget(asks.db, collection), 'indexStats')],
  ['$planCacheStats', (asks, _specification, collection) => asks.may(namespaceTarget(asks.db, collection), 'planCacheRead')],
  ['$currentOp', currentOp],
  ['$listSessions', (asks, specification) => textAt(specification, 'allUsers') === undefined || asks.may(clusterTarget, 'listSessions')],
  ['$listLocalSessions', (asks, specification) => !(specification instanceof Document) || specification.get('allUsers') !== true || asks.may(clusterTarget, 'listSessions')],
  ['$listCatalog', (asks) => asks.may(clusterTarget, 'listDatabases')],
  ['$listClusterCatalog', (asks) => asks.may(clusterTarget, 'listClusterCatalog') || asks.may(databaseTarget(asks.db), 'listCollections')],
  ['$querySettings', (asks) => asks.may(clusterTarget, 'querySettings')],
  ['$queryStats', (asks) => asks.may(clusterTarget, 'queryStatsRead')],
  ['$listSampledQueries', (asks) => asks.may(clusterTarget, 'listSampledQueries')],
]);

/** First stages that make their own documents: the collection itself is not read. */
const WITHOUT_COLLECTION: ReadonlySet<string> = new Set([
  '$changeStream', '$collStats', '$indexStats', '$planCacheStats', '$currentOp', '$listSessions', '$listLocalSessions', '$documents', '$listCatalog', '$listClusterCatalog', '$querySettings', '$queryStats', '$listSampledQueries',
]);

function mayRunStages(asks: Asks, pipeline: Value | undefined, collection: string): boolean {
  return documentsIn(pipeline).every((stage) => {
    const [name, specification] = stage.first ?? ['', null];
    return STAGES.get(name)?.(asks, specification, collection) ?? true;
  });
}

/** Whether the whole pipeline is allowed on the collection (empty: on none). */
export function mayRunPipeline(asks: Asks, pipeline: Value | undefined, collection: string): boolean {
  const [first] = documentsIn(pipeline);
  const makesItsOwn = first?.first !== undefined && WITHOUT_COLLECTION.has(first.first[0]);
  if (!makesItsOwn && collection !== '' && !asks.may(namespaceTarget(asks.db, collection), 'find')) return false;
  return mayRunStages(asks, pipeline, collection);
}
