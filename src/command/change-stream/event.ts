// From an operation of the log to the event that a change stream gives (manual: "Change Events"). An operation that the stream does not watch
// gives none; one that ends what is watched is followed by `invalidate`.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, describeValue, Document, type Value } from '../../bson/index.ts';
import { applyDiff, visitDiff, type Operation, type PathStep } from '../../catalog/index.ts';
import { tokenOf, type StreamPosition } from './resume-token.ts';
import type { StreamOptions, Watched } from './stream-options.ts';

/** Finds the document that an update changed, as it is now. */
export type Lookup = (operation: Operation) => Promise<Document | null>;

/** What an operation is to a stream. */
export interface MadeEvents {
  readonly events: readonly Document[];
  /** The stream ends behind them. */
  readonly invalidates: boolean;
}

const NONE: MadeEvents = { events: [], invalidates: false };

type Fields = [string, Value][];

function namespaceDocument(ns: string): Document {
  const dot = ns.indexOf('.');
  return Document.of({ db: ns.slice(0, dot), coll: ns.slice(dot + 1) });
}

/** A system collection is nobody's business, nor are the collections that `$out` fills. */
function isShown(ns: string): boolean {
  const name = ns.slice(ns.indexOf('.') + 1);
  return !name.startsWith('system.');
}

function watches(watched: Watched, ns: string): boolean {
  if (watched.kind === 'collection') return watched.ns === ns;
  const db = ns.slice(0, ns.indexOf('.'));
  return isShown(ns) && (watched.kind === 'database' ? watched.db === db : db !== 'admin');
}

/** The position of an operation. */
export function positionAt(operation: Operation): StreamPosition {
  return { time: operation.time, kind: 'event', index: operation.index ?? 0, mark: 'passed' };
}

function head(operation: Operation, type: string, options: StreamOptions): Fields {
  const fields: Fields = [
    ['_id', tokenOf({ ...positionAt(operation), mark: 'given' })],
    ['operationType', type],
    ['clusterTime', operation.time],
  ];
  if (options.expanded && operation.space.uuid !== undefined && type !== 'invalidate') fields.push(['collectionUUID', operation.space.uuid]);
  fields.push(['wallTime', operation.wall]);
  if (operation.owner !== undefined && operation.index !== undefined) fields.push(['txnNumber', operation.owner.txnNumber], ['lsid', operation.owner.lsid]);
  return fields;
}

function invalidate(operation: Operation): Document {
  const token = tokenOf({ ...positionAt(operation), mark: 'invalidated' });
  return Document.fromEntries([['_id', token], ['operationType', 'invalidate'], ['clusterTime', operation.time], ['wallTime', operation.wall]]);
}

const TYPES: Readonly<Record<string, string>> = { insert: 'insert', update: 'update', replace: 'replace', remove: 'delete' };

function noImage(what: string, operation: Operation): CommandError {
  const text = `Change stream was configured to require a ${what}-image for all update, delete and replace events, but the ${what}-image was not found for event: ${describeValue(tokenOf({ ...positionAt(operation), mark: 'given' }))}`;
  return new CommandError(47, 'NoMatchingDocument', text);
}

async function fullDocument(operation: Operation, options: StreamOptions, lookup: Lookup): Promise<Document | null | undefined> {
  if (operation.kind === 'insert' || operation.kind === 'replace') return operation.o;
  if (operation.kind === 'remove' || options.fullDocument === 'default') return undefined;
  if (options.fullDocument === 'updateLookup') return lookup(operation);
  const after = imageAfter(operation);
  if (after === undefined && options.fullDocument === 'required') throw noImage('post', operation);
  return after ?? null;
}

/** The document after an update; of a large one only the image before is kept. */
function imageAfter({ before, after, o }: Operation): Document | undefined {
  return after ?? (before === undefined ? undefined : applyDiff(before, o));
}

function documentBefore(operation: Operation, options: StreamOptions): Document | null | undefined {
  if (options.before === 'off' || operation.kind === 'insert') return undefined;
  if (operation.before === undefined && options.before === 'required') throw noImage('pre', operation);
  return operation.before ?? null;
}

const isDigits = (step: string): boolean => /^\d+$/.test(step);

/** A path could be read in two ways: a number may be a name or a place, a dot part of a name. */
function isAmbiguous(path: readonly PathStep[]): boolean {
  return path.some((step) => typeof step === 'number' || isDigits(step) || step.includes('.'));
}

function updateDescription(diff: Document, expanded: boolean): Document {
  const updated: Fields = [];
  const removed: Value[] = [];
  const truncated: Value[] = [];
  const ambiguous: Fields = [];
  const textOf = (path: readonly PathStep[]): string => {
    const text = path.join('.');
    if (expanded && isAmbiguous(path)) ambiguous.push([text, BsonArray.of([...path])]);
    return text;
  };
  visitDiff(diff, {
    updated: (path, value) => updated.push([textOf(path), value]),
    removed: (path) => removed.push(textOf(path)),
    truncated: (path, newSize) => truncated.push(Document.of({ field: textOf(path), newSize })),
  });
  return Document.of({
    updatedFields: Document.fromEntries(updated),
    removedFields: BsonArray.of(removed),
    truncatedArrays: BsonArray.of(truncated),
    disambiguatedPaths: expanded ? Document.fromEntries(ambiguous) : undefined,
  });
}

async function documentEvent(operation: Operation, options: StreamOptions, lookup: Lookup): Promise<Document> {
  const { kind, space, o, o2 } = operation;
  const fields = head(operation, TYPES[kind] ?? kind, options);
  const full = await fullDocument(operation, options, lookup);
  const isUpdate = kind === 'update';
  if (full !== undefined && !isUpdate) fields.push(['fullDocument', full]);
  fields.push(['ns', namespaceDocument(space.ns)]);
  const key = o2 ?? Document.of({ _id: o.get('_id') });
  fields.push(['documentKey', key]);
  if (isUpdate) fields.push(['updateDescription', updateDescription(o, options.expanded)]);
  if (full !== undefined && isUpdate) fields.push(['fullDocument', full]);
  const before = documentBefore(operation, options);
  if (before !== undefined) fields.push(['fullDocumentBeforeChange', before]);
  return Document.fromEntries(fields);
}

/** How a change of the catalog is told. */
interface CommandTold {
  readonly type: string;
  /** Only streams that ask for more events have it. */
  readonly expanded: boolean;
  readonly description?: (operation: Operation) => Document | undefined;
}

function without(document: Document, ...names: readonly string[]): Document {
  return Document.fromEntries(document.fields.filter(([name]) => !names.includes(name)));
}

const COMMANDS: ReadonlyMap<string, CommandTold> = new Map<string, CommandTold>([
  ['drop', { type: 'drop', expanded: false }],
  ['create', { type: 'create', expanded: true, description: ({ o }) => without(o, 'create') }],
  ['createIndexes', { type: 'createIndexes', expanded: true, description: ({ o }) => Document.of({ indexes: BsonArray.of([without(o, 'createIndexes')]) }) }],
  ['dropIndexes', { type: 'dropIndexes', expanded: true, description: ({ o2 }) => Document.of({ indexes: BsonArray.of(o2 === undefined ? [] : [o2]) }) }],
  ['collMod', { type: 'modify', expanded: true, description: ({ o }) => without(o, 'collMod') }],
  // TokuMX's. The documents of a part that is dropped get no events of their own.
  ['convertToPartitioned', { type: 'convertToPartitioned', expanded: true }],
  ['addPartition', { type: 'addPartition', expanded: true, description: ({ o }) => without(o, 'addPartition') }],
  ['dropPartition', { type: 'dropPartition', expanded: true, description: ({ o }) => without(o, 'dropPartition') }],
]);

const nsTypeOf = (o: Document): string => (o.has('timeseries') ? 'timeseries' : 'collection');

function commandEvent(operation: Operation, options: StreamOptions): MadeEvents {
  const [name] = operation.o.first ?? [''];
  if (name === 'renameCollection') return renameEvent(operation, options);
  if (name === 'dropDatabase') return dropDatabaseEvent(operation, options);
  const told = COMMANDS.get(name);
  return told === undefined ? NONE : collectionEvent(operation, told, options);
}

const textIn = (document: Document, name: string): string => {
  const value = document.get(name);
  return typeof value === 'string' ? value : '';
};

/** What happened to one collection. */
function collectionEvent(operation: Operation, told: CommandTold, options: StreamOptions): MadeEvents {
  const { o, space } = operation;
  const [name] = o.first ?? [''];
  const ns = `${space.ns.slice(0, space.ns.indexOf('.'))}.${textIn(o, name)}`;
  // What has no UUID is a view, of which only a stream that asks for more events hears.
  const isMore = told.expanded || space.uuid === undefined;
  if ((isMore && !options.expanded) || !watches(options.watched, ns)) return NONE;
  const fields = [...head(operation, told.type, options), ['ns', namespaceDocument(ns)], ...describedBy(operation, told)] satisfies Fields;
  const event = Document.fromEntries(fields);
  const invalidates = name === 'drop' && options.watched.kind === 'collection';
  return { events: invalidates ? [event, invalidate(operation)] : [event], invalidates };
}

function describedBy(operation: Operation, told: CommandTold): Fields {
  const { o, o2, space } = operation;
  const fields: Fields = [];
  const description = told.description?.(operation);
  if (description !== undefined) fields.push(['operationDescription', description]);
  if (told.type === 'create') fields.push(['nsType', space.uuid === undefined ? 'view' : nsTypeOf(o)]);
  if (told.type === 'modify' && o2 !== undefined) fields.push(['stateBeforeChange', Document.of({ collectionOptions: o2.get('collectionOptions_old') })]);
  return fields;
}

function renameEvent(operation: Operation, options: StreamOptions): MadeEvents {
  const { o } = operation;
  const [from, to] = [textIn(o, 'renameCollection'), textIn(o, 'to')];
  if (!watches(options.watched, from) && !watches(options.watched, to)) return NONE;
  const fields = head(operation, 'rename', options);
  fields.push(['ns', namespaceDocument(from)], ['to', namespaceDocument(to)]);
  if (options.expanded) fields.push(['operationDescription', Document.of({ to: namespaceDocument(to), dropTarget: o.get('dropTarget') })]);
  const event = Document.fromEntries(fields);
  const invalidates = options.watched.kind === 'collection';
  return { events: invalidates ? [event, invalidate(operation)] : [event], invalidates };
}

function dropDatabaseEvent(operation: Operation, options: StreamOptions): MadeEvents {
  const { watched } = options;
  const db = operation.space.ns.slice(0, operation.space.ns.indexOf('.'));
  if (watched.kind === 'collection' || (watched.kind === 'database' && watched.db !== db)) return NONE;
  const event = Document.fromEntries([...head(operation, 'dropDatabase', options), ['ns', Document.of({ db })]]);
  const invalidates = watched.kind === 'database';
  return { events: invalidates ? [event, invalidate(operation)] : [event], invalidates };
}

/** The events of an operation. */
export async function eventsOf(operation: Operation, options: StreamOptions, lookup: Lookup): Promise<MadeEvents> {
  if (operation.kind === 'command') return commandEvent(operation, options);
  if (operation.kind === 'note' || !watches(options.watched, operation.space.ns)) return NONE;
  return { events: [await documentEvent(operation, options, lookup)], invalidates: false };
}
