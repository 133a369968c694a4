// What the gateway's status page and its metrics tell of a server: serverStatus as a client would get it, and the shape of the trees, as collStats tells it.

import { Document, toExtendedJson } from '../bson/index.ts';
import { CommandError } from '../base/errors.ts';
import { namespaceOf } from '../catalog/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Environment } from '../engine/index.ts';
import type { ServerStatus, TreeLevel, TreeStatus } from '../gateway/index.ts';

/** Trees that are told of. */
const treesMax = 100;

/** Parts of a server that are asked. */
export interface StatusParts {
  readonly engine: Environment;
  readonly catalog: Catalog;
  readonly run: (db: string, command: Document) => Promise<Document>;
}

/** The numbers as they are now. */
export async function readServerStatus({ engine, catalog, run }: StatusParts): Promise<ServerStatus> {
  const reply = await run('admin', Document.of({ serverStatus: 1 }));
  const server: unknown = JSON.parse(toExtendedJson(reply, 'relaxed'));
  const trees = await readTrees(engine, catalog);
  return { server: typeof server === 'object' && server !== null ? { ...server } : {}, trees: trees.sort((a, b) => b.rawBytes - a.rawBytes).slice(0, treesMax) };
}

async function readTrees(engine: Environment, catalog: Catalog): Promise<TreeStatus[]> {
  const txn = catalog.begin('read');
  try {
    const found: TreeStatus[] = [];
    for (const db of await catalog.databases(txn)) {
      for (const collection of await catalog.collections(txn, db)) {
        if (collection.kind !== 'collection') continue;
        for (const { name, dictionary } of collection.indexes) {
          const { rows, height, leaves, rawBytes, diskBytes } = engine.dictionaryStatistics(dictionary);
          found.push({ ns: collection.ns.text, name, rows, height, leaves, rawBytes, diskBytes });
        }
      }
    }
    return found;
  } finally {
    txn.abort();
  }
}

/** The levels of one tree; undefined where there is no such index. */
export async function readTreeLevels({ catalog }: Pick<StatusParts, 'catalog'>, ns: string, index: string): Promise<readonly TreeLevel[] | undefined> {
  const at = ns.indexOf('.');
  const txn = catalog.begin('read');
  try {
    const collection = at < 1 ? undefined : await catalog.lookup(txn, namespaceOf(ns.slice(0, at), ns.slice(at + 1)));
    return collection?.kind === 'collection' ? (await collection.levels()).get(index) : undefined;
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  } finally {
    txn.abort();
  }
}
