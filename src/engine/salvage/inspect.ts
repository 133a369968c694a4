// A data directory in words, line by line: superblocks, space, dictionaries and the shape of their trees level by level, log segments and
// their groups. Only reads; what is damaged is said in its place. For `frond inspect`; docs/file-format.md has every byte.

import type { Env } from '../../env/index.ts';
import { segmentKinds } from '../blob/blob-image.ts';
import { listBlobSegments, segmentPath } from '../blob/blob-segment.ts';
import type { BlockNumber } from '../block/block-number.ts';
import { unitBytes, unitsFor } from '../block/block-number.ts';
import { blockKinds, piecesOf } from '../block/block-table.ts';
import type { Superblock } from '../block/superblock.ts';
import type { TreeNode } from '../tree/node.ts';
import { decodeNode } from '../tree/node.ts';
import type { TreeRecord } from '../tree/tree.ts';
import { groupBytes } from '../wal/group.ts';
import type { Damage } from './damage.ts';
import { isDamage } from './damage.ts';
import type { FoundGroup } from './found-log.ts';
import { readFoundLog, recordsWanted } from './found-log.ts';
import { FoundStore } from './found-store.ts';

/** Describes a directory that nobody writes. `locked` when somebody has it open. */
export async function* inspectDirectory(env: Env, path: string): AsyncGenerator<string> {
  const lock = await env.files.lockDirectory(path, 'reading');
  try {
    const damages: Damage[] = [];
    const store = await FoundStore.open(env, `${path}/data.frond`, (damage) => damages.push(damage));
    try {
      yield* describeStore(store);
      for (const record of store.trees) yield* describeTree(store, record);
      yield* describeBlobs(env, `${path}/blob`, store);
    } finally {
      await store.close();
    }
    yield* describeLog(env, `${path}/log`, store.superblock, damages);
    for (const { message, file, offset } of damages) yield `damage: ${file ?? path}${offset === undefined ? '' : ` at ${offset}`}: ${message}`;
  } finally {
    await lock.release();
  }
}

function* describeStore(store: FoundStore): Generator<string> {
  yield `${store.path}: ${store.fileBytes} bytes`;
  for (const { offset, superblock } of store.copies) {
    yield `superblock at ${offset}: ${superblock === undefined ? 'damaged' : describeSuperblock(superblock)}`;
  }
  yield `in use: generation ${store.superblock.generation}`;
  let [data, meta, units] = [0, 0, 0];
  for (const place of store.places.values()) {
    if (place.kind === blockKinds.data) data += 1;
    else meta += 1;
    for (const piece of piecesOf(place)) units += piece.units;
  }
  const table = (store.superblock.table === undefined ? 0 : unitsFor(store.superblock.table.length)) * 2;
  const used = (units + table) * unitBytes;
  yield `blocks: ${data} data, ${meta} meta; ${used} bytes in use, ${Math.max(0, store.fileBytes - used)} free or superblocks`;
}

function describeSuperblock({ generation, root, table }: Superblock): string {
  if (root === undefined) return `generation ${generation}, no checkpoint yet`;
  return `generation ${generation}, next seq ${root.nextSeq}, next dictionary ${root.nextDictionary}, log from segment ${root.logFrom.segment} seq ${root.logFrom.seq}, block table of ${table?.length ?? 0} bytes`;
}

/** What one level of a tree holds. */
interface Level {
  nodes: number;
  children: number;
  runs: number;
  basements: number;
  rows: number;
  storedBytes: number;
  rawBytes: number;
  lost: number;
}

async function* describeTree(store: FoundStore, record: TreeRecord): AsyncGenerator<string> {
  const { id, options, createdSeq, droppedSeq, flushedSeq, rows, bytes } = record;
  const kept = `${options.compression}, pages of ${options.pageBytes}, basements of ${options.readPageBytes}, fanout ${options.fanout}`;
  yield `dictionary ${id}${droppedSeq === Infinity ? '' : ` (dropped at ${droppedSeq})`}: ${rows} rows, ${bytes} bytes, as of seq ${flushedSeq}; made at ${createdSeq}; ${kept}`;
  const levels = new Map<number, Level>();
  await weighSubtree(store, levels, record.root, record.height);
  for (const [height, level] of [...levels].sort(([a], [b]) => b - a)) yield `  ${height === 0 ? 'leaves' : `level ${height}`}: ${describeLevel(level)}`;
}

function describeLevel({ nodes, children, runs, basements, rows, storedBytes, rawBytes, lost }: Level): string {
  const below = children === 0 ? '' : `${children} children, `;
  const ratio = storedBytes === 0 ? '' : ` (${(rawBytes / storedBytes).toFixed(2)} : 1)`;
  return `${nodes} nodes, ${below}${runs} runs of ${basements} basements, ${rows} messages, ${storedBytes} bytes for ${rawBytes}${ratio}${lost === 0 ? '' : `; ${lost} nodes lost`}`;
}

async function weighSubtree(store: FoundStore, levels: Map<number, Level>, number: BlockNumber, height: number): Promise<void> {
  const level = levels.get(height) ?? { nodes: 0, children: 0, runs: 0, basements: 0, rows: 0, storedBytes: 0, rawBytes: 0, lost: 0 };
  levels.set(height, level);
  const node = await nodeOf(store, number);
  if (node === undefined) {
    level.lost += 1;
    return;
  }
  level.nodes += 1;
  for (const { fences } of node.kind === 'leaf' ? [node.extent].filter((extent) => extent !== undefined) : node.buffers.flat()) {
    level.runs += 1;
    level.basements += fences.length;
    level.rows += fences.count;
    level.storedBytes += fences.storedBytes;
    level.rawBytes += fences.rawBytes;
  }
  if (node.kind === 'leaf') return;
  level.children += node.children.length;
  for (const child of node.children) await weighSubtree(store, levels, child, height - 1);
}

async function nodeOf(store: FoundStore, number: BlockNumber): Promise<TreeNode | undefined> {
  try {
    return decodeNode(number, await store.readMeta(number));
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

/** The segments of large values, as the checkpoint counts them. */
async function* describeBlobs(env: Env, directory: string, { blobs }: FoundStore): AsyncGenerator<string> {
  const found = await listBlobSegments(env, directory);
  const known = new Map(blobs.segments.map((segment) => [segment.number, segment]));
  for (const number of found) {
    const segment = known.get(number);
    const what = segment === undefined ? 'newer than the checkpoint' : `${segment.kind === segmentKinds.stamped ? 'rows of commits, ' : ''}${segment.end} bytes, ${segment.live} referred to`;
    yield `${segmentPath(directory, number)}: ${what}`;
  }
  for (const { number, live } of known.values()) if (live > 0 && !found.includes(number)) yield `damage: ${segmentPath(directory, number)} is not there; ${live} bytes are referred to`;
}

async function* describeLog(env: Env, directory: string, superblock: Superblock, damages: Damage[]): AsyncGenerator<string> {
  const segments = new Map<string, FoundGroup[]>();
  const group = (found: FoundGroup): void => {
    const { path } = found.segment;
    segments.set(path, [...(segments.get(path) ?? []), found]);
  };
  await readFoundLog(env, directory, recordsWanted(superblock.root), { visit: { group }, report: (damage) => damages.push(damage) });
  for (const [path, found] of segments) {
    const [first] = found;
    const last = found.at(-1);
    if (first === undefined || last === undefined) continue;
    const records = found.reduce((sum, { header }) => sum + header.records, 0);
    const end = last.offset + groupBytes(last.header.payloadBytes);
    yield `${path}: ${found.length} groups (${first.header.number} to ${last.header.number}), ${records} records (seq ${first.header.firstSeq} to ${last.header.firstSeq + last.header.records - 1}), ends at ${end}`;
  }
  if (segments.size === 0) yield `${directory}: no groups`;
}
