// applyOps: does what entries of an oplog say (manual: "applyOps"), as mongorestore --oplogReplay asks. Entries may be applied twice: an insertion of
// what is there replaces it, a deletion of what is not there does nothing. Entries about documents alone are one transaction unless
// `allowAtomic: false` is said; else one after the other, and what came before an error stays.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, type Value } from '../../bson/index.ts';
import { applyDiff, namespaceOf, parseNamespace, type CatalogTransaction, type Collection, type Namespace } from '../../catalog/index.ts';
import { planQuery } from '../../plan/index.ts';
import { compileFilter, compileUpdate } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { anyField, arrayField, required, typeText } from '../fields.ts';
import { noteWrite } from '../note-write.ts';
import { lockedDocument } from './single-write.ts';

/** One entry, read. */
interface Entry {
  readonly op: string;
  readonly ns: Namespace;
  readonly o: Document;
  readonly o2: Document | undefined;
}

const noSuchKey = (name: string): CommandError => new CommandError(4, 'NoSuchKey', `Missing expected field "${name}"`);
const wrongType = (at: string, value: Value): CommandError => new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}'`);
const KINDS: ReadonlySet<string> = new Set(['i', 'u', 'd', 'c', 'n']);

function readEntry(value: Value, at: number): Entry {
  const place = `applyOps.applyOps.${String(at)}`;
  if (!(value instanceof Document)) throw wrongType(place, value);
  const op = value.get('op');
  if (op === undefined) throw noSuchKey('op');
  if (typeof op !== 'string') throw wrongType(`${place}.op`, op);
  const ns = value.get('ns');
  if (op === '' || typeof ns !== 'string' || ns === '') throw new CommandError(20, 'IllegalOperation', `an entry names an operation and a namespace: ${place}`);
  const [o, o2] = [value.get('o'), value.get('o2')];
  if (!(o instanceof Document)) throw new CommandError(40414, 'IDLFailedToParse', `BSON field 'OplogEntryBase.o' is missing but a required field`);
  if (!KINDS.has(op)) throw new CommandError(2, 'BadValue', `Unrecognized op type '${op}' in applyOps`);
  const { db, collection } = parseNamespace(ns);
  return { op, ns: namespaceOf(db, collection), o, o2: o2 instanceof Document ? o2 : undefined };
}

/** Options that the command had once, or that are the server's own. */
function checkOptions(fields: { readonly prepare?: Value | undefined; readonly partialTxn?: Value | undefined; readonly count?: Value | undefined; readonly alwaysUpsert?: Value | undefined; readonly preCondition?: Value | undefined }): void {
  const { prepare, partialTxn, count, alwaysUpsert, preCondition } = fields;
  if (prepare !== undefined) throw new CommandError(2, 'BadValue', "applyOps: 'prepare' is only for the server itself");
  if (partialTxn !== undefined) throw new CommandError(31056, 'Location31056', "applyOps: 'partialTxn' is only for the server itself");
  if (count !== undefined) throw wrongType('applyOps.count', count);
  if (alwaysUpsert === true) throw new CommandError(6711601, 'Location6711601', "applyOps: 'alwaysUpsert: true' is not supported any more");
  if (alwaysUpsert !== undefined && alwaysUpsert !== null && alwaysUpsert !== false) throw wrongType('applyOps.alwaysUpsert', alwaysUpsert);
  if (preCondition !== undefined) throw new CommandError(6711600, 'Location6711600', "applyOps: 'preCondition' is not supported any more");
}

function idOf(document: Document | undefined): Value {
  const id = document?.get('_id');
  if (id === undefined) throw noSuchKey('_id');
  return id;
}

/** The document of that `_id`, locked, with its key. */
async function locate(context: CommandContext, txn: CatalogTransaction, collection: Collection, id: Value): Promise<{ key: Uint8Array; document: Document } | undefined> {
  const now = new DateTime(context.server.env.clock.nowMs());
  const filter = compileFilter(Document.of({ _id: Document.of({ $eq: id }) }), { now, collation: collection.options.collation });
  const plan = await planQuery({ txn, ns: collection.ns, collection }, { filter, collation: collection.options.collation, purpose: 'keyed' }, context.operation);
  const source = plan.openKeyed();
  try {
    for (let batch = await source.next(context.operation); batch !== undefined; batch = await source.next(context.operation)) {
      const [found] = batch;
      if (found === undefined) continue;
      const document = await lockedDocument(txn, collection, found.key);
      return document === undefined ? undefined : { key: found.key, document };
    }
    return undefined;
  } finally {
    source.close();
  }
}

async function collectionOf(context: CommandContext, txn: CatalogTransaction, ns: Namespace): Promise<Collection> {
  const collection = await context.server.catalog.collection(txn, ns);
  if (collection === undefined) throw new CommandError(26, 'NamespaceNotFound', `Failed to apply an operation due to missing collection: ${ns.text}`);
  return collection;
}

async function applyInsert(context: CommandContext, txn: CatalogTransaction, { ns, o }: Entry): Promise<void> {
  const collection = await collectionOf(context, txn, ns);
  const found = await locate(context, txn, collection, idOf(o));
  if (found === undefined) await collection.insert(txn, collection.prepare(o), { bypassValidation: true });
  else await collection.update(txn, found.key, { before: found.document, after: o }, { bypassValidation: true, shape: 'replacement' });
}

function updated({ server }: CommandContext, before: Document, o: Document): Document {
  const diff = o.get('diff');
  if (o.has('$v') && diff instanceof Document) return applyDiff(before, diff);
  const operators = Document.fromEntries(o.fields.filter(([name]) => name !== '$v'));
  if (operators.first?.[0].startsWith('$') !== true) return operators;
  const now = new DateTime(server.env.clock.nowMs());
  return compileUpdate(operators, { now }).apply(before, { now, timestamp: server.time.operationTime }).doc;
}

async function applyUpdate(context: CommandContext, txn: CatalogTransaction, { ns, o, o2 }: Entry): Promise<void> {
  const id = idOf(o2);
  const collection = await collectionOf(context, txn, ns);
  const found = await locate(context, txn, collection, id);
  if (found === undefined) throw new CommandError(8, 'UnknownError', `Failed to apply an update: no document of ${ns.text} matches`);
  const after = updated(context, found.document, o);
  await collection.update(txn, found.key, { before: found.document, after }, { bypassValidation: true });
}

async function applyDelete(context: CommandContext, txn: CatalogTransaction, { ns, o }: Entry): Promise<void> {
  const collection = await context.server.catalog.collection(txn, ns);
  const found = collection === undefined ? undefined : await locate(context, txn, collection, idOf(o));
  if (collection !== undefined && found !== undefined) await collection.remove(txn, found.key, found.document);
}

type Apply = (context: CommandContext, txn: CatalogTransaction, entry: Entry) => Promise<void>;
const OF_DOCUMENTS: ReadonlyMap<string, Apply> = new Map<string, Apply>([['i', applyInsert], ['u', applyUpdate], ['d', applyDelete]]);

type Define = (context: CommandContext, db: string, o: Document) => Promise<unknown>;

function named(o: Document): string {
  const name = o.first?.[1];
  if (typeof name === 'string') return name;
  throw new CommandError(14, 'TypeMismatch', `the command ${o.first?.[0] ?? ''} of an entry names a collection`);
}

function textOf(o: Document, name: string): string {
  const text = o.get(name);
  if (typeof text === 'string') return text;
  throw new CommandError(14, 'TypeMismatch', `the field '${name}' of an entry is a text`);
}

const others = (o: Document, ...left: readonly string[]): Document => Document.fromEntries(o.fields.slice(1).filter(([name]) => !left.includes(name)));

const DEFINITIONS: ReadonlyMap<string, Define> = new Map<string, Define>([
  ['create', ({ server }, db, o) => server.catalog.run((txn) => server.catalog.create(txn, namespaceOf(db, named(o)), others(o, 'idIndex')))],
  ['drop', ({ server }, db, o) => server.catalog.run((txn) => server.catalog.drop(txn, namespaceOf(db, named(o))))],
  ['dropDatabase', ({ server }, db) => server.catalog.run((txn) => server.catalog.dropDatabase(txn, db))],
  ['collMod', ({ server }, db, o) => server.catalog.run((txn) => server.catalog.modify(txn, namespaceOf(db, named(o)), others(o)))],
  ['createIndexes', ({ server }, db, o) => server.catalog.createIndexes(namespaceOf(db, named(o)), [others(o)])],
  ['dropIndexes', ({ server }, db, o) => server.catalog.run((txn) => server.catalog.dropIndexes(txn, namespaceOf(db, named(o)), textOf(o, 'index')))],
  [
    'renameCollection',
    ({ server }, _db, o) => {
      const [from, to] = [parseNamespace(named(o)), parseNamespace(textOf(o, 'to'))];
      const dropTarget = (o.get('dropTarget') ?? false) !== false;
      return server.catalog.run((txn) => server.catalog.rename(txn, namespaceOf(from.db, from.collection), namespaceOf(to.db, to.collection), { dropTarget }));
    },
  ],
  ['applyOps', (context, _db, o) => applyAll(context, entriesOf(o.get('applyOps') ?? null), true)],
]);

async function applyDefinition(context: CommandContext, { ns, o }: Entry): Promise<void> {
  const name = o.first?.[0] ?? '';
  const define = DEFINITIONS.get(name);
  if (define === undefined) throw new CommandError(2, 'BadValue', `Unrecognized command in op: ${name}`);
  await define(context, ns.db, o);
}

function entriesOf(list: Value): readonly Entry[] {
  if (!(list instanceof BsonArray)) throw wrongType('applyOps.applyOps', list);
  return list.items().map(readEntry);
}

/** Applies entries; how many there were beside those that say nothing. */
async function applyAll(context: CommandContext, entries: readonly Entry[], mayBeAtomic: boolean): Promise<number> {
  const { catalog } = context.server;
  const told = entries.filter(({ op }) => op !== 'n');
  const isAtomic = mayBeAtomic && told.every(({ op }) => op !== 'c');
  const parts = isAtomic ? [told] : told.map((entry) => [entry]);
  for (const part of parts) {
    await context.operation.turn();
    const [first] = part;
    if (first?.op === 'c') await applyDefinition(context, first);
    else if (first !== undefined) {
      await catalog.run(async (txn) => {
        for (const entry of part) await OF_DOCUMENTS.get(entry.op)?.(context, txn, entry);
      });
    }
  }
  return told.length;
}

const applyOps: Command = defineCommand({
  name: 'applyOps',
  access: 'write',
  about: 'does what entries of an oplog say',
  lax: true,
  fields: { applyOps: { ...required(arrayField), nullIsWrong: true }, allowAtomic: anyField, alwaysUpsert: anyField, preCondition: anyField, prepare: anyField, partialTxn: anyField, count: anyField },
  run: async (context, { applyOps: list, allowAtomic, ...options }): Promise<Reply> => {
    checkOptions(options);
    const applied = await applyAll(context, entriesOf(list), allowAtomic !== false);
    if (applied > 0) noteWrite(context.server);
    return { applied, results: BsonArray.of(Array.from({ length: applied }, () => true)) };
  },
});

export const APPLY_COMMANDS: readonly Command[] = [applyOps];
