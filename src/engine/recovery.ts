// Recovery: the trees of the last checkpoint, then every log record above what each of them has below its fronts, exactly once (law 14).
// Replay flushes as it goes (replay-work.ts), so it needs no more memory than the environment itself.

import { EngineError } from '../base/errors.ts';
import type { BlobTable } from './blob/blob-store.ts';
import type { CheckpointRoot } from './block/block-number.ts';
import { decodeDictionaryTable } from './checkpoint/dictionary-table.ts';
import type { EngineParts } from './engine-parts.ts';
import type { EngineState } from './state.ts';
import { ReplayWork } from './replay-work.ts';
import { SpilledFront } from './tree/spilled.ts';
import { Tree } from './tree/tree.ts';
import type { Seq, Soon } from './types.ts';
import type { LogPosition } from './wal/redo-log.ts';
import { RedoLog } from './wal/redo-log.ts';

const noBlobTable: BlobTable = { nextSegment: 1, segments: [] };
const beginning: LogPosition = { segment: 1, seq: 1 };

/** Loads the checkpoint's trees and replays the log. `step` does one piece of background work. */
export async function recover(engine: EngineParts, root: CheckpointRoot | undefined, step: () => Promise<unknown>): Promise<void> {
  const { state, commits } = engine;
  const blobs = root === undefined ? noBlobTable : loadCheckpoint(state, root, await state.store.readMeta(root.dictionaryTable));
  await state.blobs.open(blobs);
  const work = new ReplayWork(state, step);
  const sink = (seq: number, body: Uint8Array): Soon<void> => {
    const applied = commits.apply(seq as Seq, body);
    return applied === undefined ? work.afterRecord() : applied.then(() => work.afterRecord());
  };
  const { logSegmentBytes, durability, logWriter } = state.options;
  // One after the other: nobody else has the state yet.
  // Its own name first: a crash may have come before it was durable, and what is logged below it is promised (law 24).
  await state.env.files.makeDirectory(`${state.path}/log`);
  await state.env.files.syncDirectory(state.path);
  const recovery = { from: root?.logFrom ?? beginning, upTo: state.visible, sink, failed: (error: EngineError) => void state.poison(error) };
  const log = await RedoLog.open(state.env, `${state.path}/log`, { segmentBytes: logSegmentBytes, durability, logWriter }, recovery).finally(() => work.end());
  state.setLog(log);
  settleSpills(state);
  state.blobs.settle();
}

/** What was spilled by transactions whose record is not in the log is given back. */
function settleSpills(state: EngineState): void {
  const known = new Set([...state.trees.values()].flatMap((tree) => tree.frozen.map((front) => (front instanceof SpilledFront ? front.spill.number : -1))));
  for (const { number, extents } of [...state.spills.values()]) {
    if (known.has(number)) continue;
    state.spills.delete(number);
    for (const { block } of extents) state.store.drop(block);
  }
  for (const tree of state.lostSpills) {
    if (tree.isGoing) continue;
    throw new EngineError('corruption', `a commit of dictionary ${tree.id} names what is in no checkpoint`, { place: { dictionary: tree.id } });
  }
  state.lostSpills.clear();
}

/** Makes the trees as the checkpoint has them; what it knows of blobs. */
function loadCheckpoint(state: EngineState, root: CheckpointRoot, table: Uint8Array): BlobTable {
  const { records, spills, blobs } = decodeDictionaryTable(table);
  for (const spill of spills) state.spills.set(spill.number, spill);
  for (const record of records) {
    const tree = new Tree(record, state.cache, state.updates);
    state.trees.set(record.id, tree);
    state.attend(tree);
    if (record.droppedSeq !== Infinity) state.dropped.add(tree);
  }
  state.nextDictionary = root.nextDictionary;
  state.chargeTables();
  state.visible = (root.nextSeq - 1) as Seq;
  return blobs;
}
