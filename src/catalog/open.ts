// Opening the catalog of an environment: the format is checked or written, what a crash left of index builds is dropped, and every name is
// read into the cache.

import { EngineError } from '../base/errors.ts';
import { describeValue, Document } from '../bson/index.ts';
import type { Environment } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import { StoredCatalog } from './catalog.ts';
import { buildKey, buildOfKey, buildRange, catalogFormat, decodeEntry, formatKey, multikeyOfKey, multikeyRange, nameRange, namespaceOfKey } from './entry.ts';
import { NameTable } from './name-table.ts';
import { ObjectMaker } from './object-maker.ts';
import { eachRow } from './rows.ts';
import type { Catalog } from './types.ts';

/** Opens the catalog; an environment has one at a time. EngineError `format` where a newer program wrote it. */
export async function openCatalog(engine: Environment, env: Env): Promise<Catalog> {
  await prepare(engine);
  const maker = new ObjectMaker(engine, env);
  const names = new NameTable(engine.catalogDictionary, (txn, ns, entry) => maker.load(txn, ns, entry));
  await readNames(engine, maker, names);
  return new StoredCatalog(engine, env, names, maker);
}

async function prepare(engine: Environment): Promise<void> {
  const txn = engine.begin('statement');
  const { catalogDictionary } = engine;
  const format = await txn.get(catalogDictionary, formatKey);
  const left: Uint8Array[] = [];
  await eachRow(txn.cursor(catalogDictionary, buildRange, 1), (key) => left.push(key.slice()));
  if (format !== undefined) checkFormat(format);
  else await txn.put(catalogDictionary, formatKey, Document.of({ format: catalogFormat }).toBytes());
  for (const key of left) {
    const dictionary = buildOfKey(key);
    txn.dropDictionary(dictionary);
    await txn.remove(catalogDictionary, buildKey(dictionary));
  }
  if (format === undefined || left.length > 0) await txn.commit();
  else txn.abort();
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
