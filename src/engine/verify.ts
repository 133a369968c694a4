// Checking everything that is on disk: superblocks, block table and meta blocks (the store), the log as far as a recovery might read it, then every tree
// from its root (tree-check.ts). A tree is walked as it is; one that changes faster than it can be walked is walked as a checkpoint has it, which is held
// meanwhile. So writers go on, and nothing is passed over.

import { AssertionError, EngineError } from '../base/errors.ts';
import type { Codecs } from '../env/index.ts';
import { blockKinds } from './block/block-table.ts';
import type { BlockPlace } from './block/block-table.ts';
import { unitBytes } from './block/block-number.ts';
import type { HeldCheckpoint } from './block/held-checkpoint.ts';
import { decodeDictionaryTable } from './checkpoint/dictionary-table.ts';
import type { EngineParts } from './engine-parts.ts';
import { placedIn } from './parts.ts';
import { readBlob } from './blob/read-blob.ts';
import { decodeBasement, decodeFilter } from './run/extent.ts';
import { messageKinds } from './run/message.ts';
import { isReference } from './tree/found.ts';
import { decodeNode } from './tree/node.ts';
import type { Extent } from './tree/node.ts';
import { SpilledFront } from './tree/spilled.ts';
import type { Spill } from './tree/spilled.ts';
import type { Miss, Tree, TreeRecord } from './tree/tree.ts';
import { problemOf, TreeCheck } from './tree-check.ts';
import type { TreeView } from './tree-check.ts';
import type { DictionaryId, VerifyProblem, VerifyReport } from './types.ts';
import { checkLog } from './wal/log-check.ts';

/** What was found so far. */
interface Found {
  readonly problems: VerifyProblem[];
  rows: number;
  blocks: number;
  /** Bytes of blobs that trees refer to, by segment. */
  readonly referred: Map<number, number>;
}

/** Reads everything once. Clients go on. */
export async function verifyEnvironment(engine: EngineParts): Promise<VerifyReport> {
  const { state } = engine;
  const found: Found = { problems: [], rows: 0, blocks: 0, referred: new Map() };
  await state.fileGate.alone(async () => {
    for await (const problem of state.store.verify()) found.problems.push({ ...problem });
  });
  found.problems.push(...(await checkLog(state.env, state.log)));
  const before = { jobs: state.counters.jobs, dropped: state.dropped.size };
  const restless = new Set<DictionaryId>();
  for (const tree of [...state.trees.values()]) {
    const check = await checkTree(engine, tree);
    if (check === 'restless') restless.add(tree.id);
    else if (check !== undefined) add(found, check);
    found.problems.push(...(await checkFronts(engine, tree)));
  }
  if (restless.size > 0) await checkHeld(engine, restless, found);
  // Where nothing changed meanwhile, what is counted is what is there.
  const isStill = state.counters.jobs === before.jobs && before.dropped === 0 && state.dropped.size === 0 && restless.size === 0;
  if (found.problems.length === 0 && isStill) found.problems.push(...miscounted(engine, found.referred));
  return { problems: found.problems, dictionaries: state.trees.size, blocks: found.blocks, rows: found.rows };
}

function add(found: Found, check: TreeCheck): void {
  for (const [segment, bytes] of check.blobs) found.referred.set(segment, (found.referred.get(segment) ?? 0) + bytes);
  found.problems.push(...check.problems);
  found.rows += check.rows;
  found.blocks += check.blocks.size;
}

/** Segments of which the trees refer to another number of bytes than is counted. */
function miscounted({ state }: EngineParts, referred: ReadonlyMap<number, number>): VerifyProblem[] {
  const problems: VerifyProblem[] = [];
  for (const { number, inTrees, path } of state.blobs.segments) {
    const bytes = referred.get(number) ?? 0;
    if (bytes !== inTrees) problems.push({ message: `${path}: trees refer to ${bytes} bytes, ${inTrees} are counted`, file: path });
  }
  return problems;
}

/** How often a tree that changes while it is walked is walked again. */
const triesMax = 3;

/** Walks a tree as it is; undefined: it was dropped. */
async function checkTree(engine: EngineParts, tree: Tree): Promise<TreeCheck | 'restless' | undefined> {
  const { parts, state } = engine;
  for (let left = triesMax; left > 0; left--) {
    const { version } = tree;
    const check = new TreeCheck(state, {
      id: tree.id, root: tree.root, spilled: tree.frozen.flatMap((front) => (front instanceof SpilledFront ? front.spill.extents : [])),
      node: (number) => parts.node(tree, number), run: (extent, index) => parts.run(tree, extent, index), filter: (extent, index) => parts.filter(tree, extent, index),
    });
    const failure = await check.all().then(() => undefined, (error: unknown) => ({ error }));
    // What is dropped gives its blocks back bit by bit.
    if (!state.trees.has(tree.id) || (failure !== undefined && tree.isGoing)) return undefined;
    if (tree.version !== version) continue;
    if (failure !== undefined) throw failure.error;
    return counted(check, tree);
  }
  return 'restless';
}

/** Reads the large values of keys that a tree's fronts say something of: references that are in no tree yet, as whoever reads now meets them. */
async function checkFronts({ state, reads }: EngineParts, tree: Tree): Promise<VerifyProblem[]> {
  const problems: VerifyProblem[] = [];
  const seq = state.visible;
  if (tree.droppedSeq <= seq) return problems;
  state.snapshots.open(seq);
  const endRead = state.blobs.beginRead();
  try {
    for (const key of referringKeys(tree)) {
      try {
        const value = await reads.search(tree, key, seq);
        if (isReference(value)) await readBlob(state.blobs, state.env, { place: value, owner: { dictionary: tree.id, key } });
      } catch (error) {
        if (!(error instanceof EngineError && (error.code === 'corruption' || error.code === 'io'))) throw error;
        problems.push(problemOf(tree.id, error));
      }
    }
  } finally {
    endRead();
    state.snapshots.close(seq);
    if (state.dropped.size > 0) state.onWork();
  }
  return problems;
}

/** The keys of which fronts say last that their value is a large one. */
function* referringKeys({ active, frozen }: Tree): Generator<Uint8Array> {
  for (const front of [active, ...frozen]) {
    if (front instanceof SpilledFront || front.blobBytes === 0) continue;
    for (let entry = 0, { count } = front; entry < count; entry++) if (front.kind(entry) === messageKinds.reference && front.isNewest(entry)) yield front.key(entry).slice();
  }
}

function counted(check: TreeCheck, { leaves }: { readonly leaves: number }): TreeCheck {
  if (check.problems.length === 0 && check.leaves !== leaves) throw new AssertionError('a tree counts its leaves');
  return check;
}

/** Walks trees as a checkpoint has them; the newest there is, on a full disk. */
async function checkHeld({ state, checkpoint }: EngineParts, ids: ReadonlySet<DictionaryId>, found: Found): Promise<void> {
  const endRead = state.blobs.beginRead();
  await checkpoint().catch((error: unknown) => {
    if (!(error instanceof EngineError && error.code === 'no-space')) throw error;
  });
  const held = state.store.hold();
  try {
    const { root } = held.superblock;
    if (root === undefined) return;
    const { records, spills } = decodeDictionaryTable(await held.readMeta(root.dictionaryTable));
    for (const record of records) {
      if (!ids.has(record.id) || record.droppedSeq !== Infinity) continue;
      const check = new TreeCheck(state, heldView(held, record, { spills, codecs: state.env.codecs }));
      await check.all();
      add(found, counted(check, record));
    }
  } finally {
    held.release();
    endRead();
  }
}

/** A tree as a checkpoint has it; nothing of it is kept in memory. */
function heldView(held: HeldCheckpoint, { id, root }: TreeRecord, { spills, codecs }: { readonly spills: readonly Spill[]; readonly codecs: Codecs }): TreeView {
  const told = (error: unknown, miss: Miss, kind: BlockPlace['kind']): unknown => placedIn(error, { dictionary: id, file: held.path, offset: held.placeOf(miss.block, kind).first * unitBytes }, miss);
  const read = async ({ block }: Extent, { from, length }: { readonly from: number; readonly length: number }): Promise<Uint8Array> => await held.read(held.placeOf(block, blockKinds.data).first * unitBytes + from, length);
  return {
    id, root, spilled: spills.flatMap((spill) => (spill.dictionary === id ? spill.extents : [])),
    node: async (number) => {
      try {
        return decodeNode(number, await held.readMeta(number));
      } catch (error) {
        throw told(error, { kind: 'miss', block: number }, blockKinds.meta);
      }
    },
    run: async (extent, index) => {
      const { fences, block } = extent;
      try {
        return decodeBasement(await read(extent, { from: fences.storedOffset(index), length: fences.storedLength(index) }), fences, index, codecs);
      } catch (error) {
        throw told(error, { kind: 'miss', block, part: { kind: 'basement', index, extent } }, blockKinds.data);
      }
    },
    filter: async (extent, index) => {
      const { fences, block } = extent;
      try {
        return decodeFilter(await read(extent, { from: fences.filterOffset(index), length: fences.filterLength(index) }), fences, index);
      } catch (error) {
        throw told(error, { kind: 'miss', block, part: { kind: 'filter', index, extent } }, blockKinds.data);
      }
    },
  };
}
