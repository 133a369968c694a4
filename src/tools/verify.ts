// Checking a data directory that no server has open: every block (the engine), then every collection: that each document has exactly its
// index entries, each entry its document, and that counts and sizes are what they are said to be.

import { EngineError } from '../base/errors.ts';
import { openCatalog, updateTable } from '../catalog/index.ts';
import type { Catalog, CatalogTransaction } from '../catalog/index.ts';
import { Binary, BsonArray, Document } from '../bson/index.ts';
import { openEnvironment } from '../engine/index.ts';
import type { VerifyProblem } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import { ToolClient } from './client.ts';
import type { ServerPlace } from './uri.ts';

/** What was looked at and what is wrong. */
export interface DirectoryReport {
  readonly problems: readonly string[];
  readonly dictionaries: number;
  readonly blocks: number;
  readonly collections: number;
  readonly documents: number;
  readonly entries: number;
}

/** Opens the directory (recovering what a crash left), checks it, and closes it. `locked` when a server has it open, `io` when it is not there. */
export async function verifyDirectory(env: Env, path: string, cacheBytes: number): Promise<DirectoryReport> {
  if (!(await env.files.exists(`${path}/data.frond`))) throw new EngineError('io', `there is no FrondDB data in ${path}`);
  const engine = await openEnvironment(env, path, { cacheBytes, updates: updateTable });
  try {
    const { problems, dictionaries, blocks } = await engine.verify();
    const found = { problems: problems.map(problemInWords), collections: 0, documents: 0, entries: 0 };
    const catalog = await openCatalog(engine, env);
    const txn = catalog.begin('read');
    try {
      for (const db of await catalog.databases(txn)) await checkDatabase(catalog, txn, { db, found });
    } finally {
      txn.abort();
    }
    return { ...found, dictionaries, blocks };
  } finally {
    await engine.close();
  }
}

/** A problem with its place: offset, and the keys that it costs. */
function problemInWords({ message, offset, fromKey, toKey }: Pick<VerifyProblem, 'message' | 'offset' | 'fromKey' | 'toKey'>): string {
  const at = offset === undefined ? '' : `, at ${offset}`;
  const keys = fromKey === undefined && toKey === undefined ? '' : `, keys ${fromKey === undefined ? 'from the first' : inHex(fromKey)} to ${toKey === undefined ? 'the last' : inHex(toKey)}`;
  return `${message}${at}${keys}`;
}

function inHex(key: Uint8Array): string {
  return Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Has the running server at `place` read every block of its files. CommandError where it refuses. */
export async function verifyServer(place: ServerPlace): Promise<Pick<DirectoryReport, 'problems' | 'dictionaries' | 'blocks'>> {
  const client = await ToolClient.open(place);
  try {
    const reply = await client.command('admin', { verifyData: 1 });
    const problems = reply.get('problems');
    const found = problems instanceof BsonArray ? problems.items().filter((problem) => problem instanceof Document) : [];
    return { problems: found.map((problem) => problemInWords(problemOf(problem))), dictionaries: Number(reply.get('dictionaries')), blocks: Number(reply.get('blocks')) };
  } finally {
    client.close();
  }
}

function problemOf(problem: Document): Pick<VerifyProblem, 'message' | 'offset' | 'fromKey' | 'toKey'> {
  const [message, offset, fromKey, toKey] = ['message', 'offset', 'fromKey', 'toKey'].map((name) => problem.get(name));
  return {
    message: typeof message === 'string' ? message : '', ...(typeof offset === 'bigint' || typeof offset === 'number' ? { offset: Number(offset) } : {}),
    ...(fromKey instanceof Binary ? { fromKey: fromKey.bytes } : {}), ...(toKey instanceof Binary ? { toKey: toKey.bytes } : {}),
  };
}

interface Found {
  readonly problems: string[];
  collections: number;
  documents: number;
  entries: number;
}

async function checkDatabase(catalog: Catalog, txn: CatalogTransaction, { db, found }: { readonly db: string; readonly found: Found }): Promise<void> {
  for (const collection of await catalog.collections(txn, db)) {
    if (!('check' in collection)) continue;
    const { problems, documents, entries } = await collection.check(txn);
    found.collections += 1;
    found.documents += documents;
    for (const count of entries.values()) found.entries += count;
    for (const problem of problems) found.problems.push(`${db}: ${problem}`);
  }
}
