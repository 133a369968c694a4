// Opening the catalog of an environment: the format is checked or written, what a crash left of index builds and bulk loads is dropped, and every name is
// read into the cache.

import { EngineError } from '../base/errors.ts';
import { describeValue, Document } from '../bson/index.ts';
import type { DictionaryId, Environment, Transaction } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import { StoredCatalog } from './catalog.ts';
import { catalogFormat, decodeEntry, decodeLoad, encodeEntry, formatKey, loadRange, multikeyOfKey, multikeyRange, multikeyRangeOf, nameRange, namespaceOfKey } from './entry.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import { NameTable } from './name-table.ts';
import { ObjectMaker } from './object-maker.ts';
import { Oplog } from './oplog/oplog.ts';
import { eachRow } from './rows.ts';
import type { Catalog, CatalogChoices } from './types.ts';

const oplogAgeMsUsual = 7 * 24 * 3_600_000;

/** Opens the catalog; an environment has one at a time. EngineError `format` where a newer program wrote it. */
export async function openCatalog(engine: Environment, env: Env, choices: CatalogChoices = {}): Promise<Catalog> {
  await prepare(engine);
  const maker = new ObjectMaker(engine, env);
  const names = new NameTable(engine.catalogDictionary, (txn, ns, entry) => maker.load(txn, ns, entry));
  await readNames(engine, maker, names);
  const { oplogBytes, oplogAgeMs = oplogAgeMsUsual, oplogAsideBytes } = choices;
  const oplog = await Oplog.open(engine, env.clock, oplogBytes === undefined ? undefined : { bytesMax: oplogBytes, ageMaxMs: oplogAgeMs, asideBytes: oplogAsideBytes });
  return new StoredCatalog({ engine, env, names, maker, choices, oplog });
}

async function prepare(engine: Environment): Promise<void> {
  const txn = engine.begin('statement');
  const { catalogDictionary } = engine;
  const format = await txn.get(catalogDictionary, formatKey);
  const left: { readonly key: Uint8Array; readonly ns: Namespace; readonly entry: NameEntry }[] = [];
  if (format !== undefined) checkFormat(format);
  else await txn.put(catalogDictionary, formatKey, Document.of({ format: catalogFormat }).toBytes());
  await eachRow(txn.cursor(catalogDictionary, nameRange(), 1), (key, value) => {
    const ns = namespaceOfKey(key.slice());
    const entry = decodeEntry(ns, value);
    if (entry.kind === 'collection' && entry.indexes.some(({ building }) => building)) left.push({ key: key.slice(), ns, entry });
  });
  const loads: [Uint8Array, readonly DictionaryId[]][] = [];
  await eachRow(txn.cursor(catalogDictionary, loadRange, 1), (key, value) => loads.push([key.slice(), decodeLoad(value)]));
  for (const [key, dictionaries] of loads) {
    for (const dictionary of dictionaries) txn.dropDictionary(dictionary);
    await txn.remove(catalogDictionary, key);
  }
  for (const { key, entry } of left) await txn.put(catalogDictionary, key, encodeEntry(await withoutBuilds(txn, catalogDictionary, entry)));
  if (format === undefined || left.length + loads.length > 0) await txn.commit();
  else txn.abort();
}

/** The entry without the indexes that were being built when the program ended; their dictionaries go with the transaction. */
async function withoutBuilds(txn: Transaction, catalogDictionary: DictionaryId, entry: NameEntry): Promise<NameEntry> {
  if (entry.kind !== 'collection') return entry;
  for (const { building, dictionary, side } of entry.indexes) {
    if (!building) continue;
    const flags: Uint8Array[] = [];
    await eachRow(txn.cursor(catalogDictionary, multikeyRangeOf(dictionary), 1), (key) => flags.push(key.slice()));
    for (const flag of flags) await txn.remove(catalogDictionary, flag);
    txn.dropDictionary(dictionary);
    if (side !== undefined) txn.dropDictionary(side);
  }
  return { ...entry, indexes: entry.indexes.filter(({ building }) => !building) };
}

function checkFormat(row: Uint8Array): void {
  const format = Document.fromBytes(row.slice()).get('format');
  if (format !== catalogFormat) throw new EngineError('format', `the catalog has format ${describeValue(format ?? null)}, this program knows ${catalogFormat}`);
}

async function readNames(engine: Environment, maker: ObjectMaker, names: NameTable): Promise<void> {
  const txn = engine.begin('read');
  try {
    await eachRow(txn.cursor(engine.catalogDictionary, nameRange(), 1), (key, value) => {
      const ns = namespaceOfKey(key.slice());
      names.install(ns.text, maker.make(ns, decodeEntry(ns, value)), txn.snapshot);
    });
    await eachRow(txn.cursor(engine.catalogDictionary, multikeyRange, 1), (key) => {
      const { dictionary, field, component } = multikeyOfKey(key);
      maker.raise(dictionary, [field * 256 + component]);
    });
  } finally {
    txn.abort();
  }
}
