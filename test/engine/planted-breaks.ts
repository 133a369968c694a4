// The laws of the engine broken one by one: a changed line in a copy of the compiled code, and what notices. docs/recovery.md has the table.
// A break that nothing notices means that the tests are too weak, not that the break is harmless.

import { damageBreaks } from './damage-breaks.ts';
import { largeValueBreaks } from './large-value-breaks.ts';
import { scenario, seeded } from './planted-break.ts';
import type { PlantedBreak } from './planted-break.ts';

const history = seeded('history');
const ranges = seeded('ranges');
const clients = seeded('clients');
const images = seeded('images');
const lives = seeded('lives');

export const plantedBreaks: readonly PlantedBreak[] = [
  ...damageBreaks,
  ...largeValueBreaks,
  {
    law: '1', name: 'seqs are applied out of order', caught: clients(1),
    file: 'commits.js', from: 'must(this.#queue.shift(), ', to: 'must(this.#queue.pop(), ',
  },
  {
    law: '1', name: 'visible moves before the commit is whole', caught: scenario('a commit applied in slices is seen whole or not at all'),
    file: 'commits.js', from: 'this.#state.applying = true;', to: 'this.#state.applying = true; this.#state.reveal(seq);',
  },
  {
    law: '2', name: 'a commit is answered before its record is safe', caught: images(3),
    file: 'commits.js', from: 'await appended.safe;', to: '',
  },
  {
    law: '2', name: 'the log is written and not synced', caught: images(1),
    file: 'wal/segment.js', from: "await env.files.open(path, 'write', { durableWrites: options.durableWrites })", to: "await env.files.open(path, 'write', { durableWrites: false })",
  },
  {
    law: '2', name: 'a recycled segment is written and not synced', caught: scenario('nothing of a recycled segment comes back'),
    file: 'wal/segment.js', from: "{ durableWrites: spare.durableWrites }", to: "{ durableWrites: false }",
  },
  {
    law: '2', name: 'a delayed log is not synced before the checkpoint', caught: lives(28),
    file: 'checkpoints.js', from: 'await log.sync();', to: '',
  },
  {
    law: '2', name: 'locks are given back before the commit is applied', caught: clients(1),
    file: 'transaction.js', from: 'return this.#writes.isEmpty && this.#spilled === undefined && rows === undefined ? this.snapshot : await this.#commit(rows);',
    to: 'const going = this.#writes.isEmpty ? this.snapshot : this.#commit(); await undefined; await undefined; await undefined; this.#locks.release(); return await going;',
  },
  {
    law: '3', name: 'a job does not know the open snapshots', caught: history(1),
    file: 'job-runner.js', from: 'snapshots: state.snapshots.list(state.visible),', to: 'snapshots: Float64Array.of(state.visible),',
  },
  {
    law: '3', name: 'a snapshot is copied from a transaction that has ended', caught: scenario('a snapshot is not copied from a transaction that has ended'),
    file: 'environment.js', from: 'if (from !== undefined && !(from instanceof EngineTransaction && from.isOpenIn(this.#engine)))', to: 'if (false)',
  },
  {
    law: '3', name: 'a dropped dictionary is taken apart under its readers', caught: scenario('a dropped dictionary goes on for its readers and is gone after them'),
    file: 'background.js', from: 'state.snapshots.oldest(state.visible) >= tree.droppedSeq', to: 'true',
  },
  {
    law: '4', name: 'recent keys are forgotten and the floor stays', caught: scenario('keys that were forgotten raise the floor, and an older writer is refused'),
    file: 'txn/recent-keys.js', from: 'if (seq > this.#floor)', to: 'if (false)',
  },
  {
    law: '4', name: 'recent keys are not asked', caught: history(4),
    file: 'held-locks.js', from: 'recent.conflicts(hash, snapshot)', to: 'false',
  },
  {
    law: '4', name: 'recent keys are asked before the lock is had', caught: clients(8),
    file: 'txn/recent-keys.js', from: 'if (this.#writers.size > 0)\n            return;\n        this.#seqs.clear();', to: 'this.#seqs.clear();',
  },
  {
    law: '5', name: 'removals are not among the recent keys', caught: scenario('a key that was removed after the snapshot is a conflict'),
    file: 'commits.js', from: 'this.#remember(dictionary, 1, ', to: 'if (message.kind === 0) this.#remember(dictionary, 1, ',
  },
  {
    law: '4', name: 'keys of a commit that is applied from memory are not among the recent ones', caught: scenario('a key that was put after the snapshot is a conflict'),
    file: 'commits.js', from: 'this.#remember(dictionary, front.count, ', to: 'this.#remember(dictionary, 0, ',
  },
  {
    law: '6', name: 'a scan sees what its transaction writes later', caught: history(2),
    file: 'transaction.js', from: 'const seqMax = this.#writes.operation;', to: 'const seqMax = Infinity;',
  },
  {
    law: '6', name: 'a mark does not take totals back', caught: history(1),
    file: 'txn/write-set.js', from: 'this.#counts?.rollbackTo(operation);', to: '',
  },
  {
    law: '6', name: 'a mark takes back all but the last write', caught: history(1),
    file: 'txn/write-set.js', from: 'front.truncate(count);', to: 'front.truncate(count + 1);',
  },
  {
    law: '7', name: 'write sets do not spill', caught: scenario('a transaction of ten times the cache is one commit'),
    file: 'transaction.js', from: 'if (own > share || (held', to: 'if (false && (held',
  },
  {
    law: '7', name: 'a read does not look into what its transaction has spilled', caught: scenario('marks and range deletes hold for what is spilled'),
    file: 'transaction.js', from: 'if (this.#spilled !== undefined && this.#spilled.runsOf(id).length > 0)', to: 'if (false)',
  },
  {
    law: '7', name: 'a scan does not see what its transaction has spilled', caught: scenario('marks and range deletes hold for what is spilled'),
    file: 'transaction.js', from: 'spilled: this.#spilled?.runsOf(id) ?? [],', to: 'spilled: [],',
  },
  {
    law: '6', name: 'a mark takes nothing back of what is spilled', caught: scenario('marks and range deletes hold for what is spilled'),
    file: 'spilled-writes.js', from: 'if (this.#runs.size > 0 && last > mark)', to: 'if (false)',
  },
  {
    law: '6', name: 'what was taken back is committed with what is spilled', caught: scenario('marks and range deletes hold for what is spilled'),
    file: 'tree/job/merge-work.js', from: 'cut.takenBack.length === 0 ? inputs', to: 'true ? inputs',
  },
  {
    law: '7', name: 'what is spilled is logged before a checkpoint has it', caught: scenario('a crash in a spilled transaction leaves all of it or nothing'),
    file: 'spilled-writes.js', from: 'await this.#parts.checkpoint();', to: '',
  },
  {
    law: '7', name: 'what is spilled and not committed keeps its space', caught: scenario('what is spilled and not committed gives its space back'),
    file: 'spilled-writes.js', from: 'for (const block of this.#blocks)\n            state.store.abandon(block);', to: '',
  },
  {
    law: '7', name: 'what is spilled is forgotten by the next checkpoint', caught: scenario('a crash in a spilled transaction leaves all of it or nothing'),
    file: 'checkpoints.js', from: 'spills: [...state.spills.values()],', to: 'spills: [],',
  },
  {
    law: '14', name: 'totals of a spilled commit are not flushed with it', caught: scenario('a crash in a spilled transaction leaves all of it or nothing'),
    file: 'commits.js', from: 'tree?.addTotals({ seq: this.#seq, rows, bytes }, this.#frontOf(tree));', to: 'tree?.addTotals({ seq: this.#seq, rows, bytes }, tree.active);',
  },
  {
    law: '4', name: 'keys of a spilled commit are not among the recent ones', caught: scenario('locks of a transaction that spills are one on the dictionary'),
    file: 'commits.js', from: 'if (this.#state.recent.isAsked)\n            this.#state.recent.addRange(dictionary, {', to: 'if (false)\n            this.#state.recent.addRange(dictionary, {',
  },
  {
    law: '8', name: 'a stamp is taken before the commit is next', caught: scenario('rows with stamps are in the order of commits'),
    file: 'transaction.js', from: 'stampAll(body, places, rows.rows.stamp());',
    to: '{ stampAll(body, places, rows.rows.stamp()); body = body.slice(); if (this.id % 2 === 0) await this.#parts.state.env.tasks.pause(); }',
  },
  {
    law: '9', name: 'totals at a snapshot hold later deltas', caught: history(2),
    file: 'tree/tree.js', from: 'if (delta.seq > seq)\n                break;', to: '',
  },
  {
    law: '9', name: 'totals are flushed without their deltas', caught: history(1),
    file: 'tree/tree.js', from: 'rows: this.#flushed.rows + front.rows', to: 'rows: this.#flushed.rows',
  },
  {
    law: '9', name: 'deltas are folded that a snapshot does not see yet', caught: clients(1),
    file: 'commits.js', from: 'if (tree.pendingDeltas > 64)\n                tree.foldTotals(state.snapshots.oldest(seq));', to: 'tree.foldTotals(seq);',
  },
  {
    law: '10', name: 'a remove is dropped above the leaf', caught: scenario('a remove above a leaf hides what is in the leaf'),
    file: 'tree/job/merge-work.js', from: 'front.slice(entry, slice);', to: 'front.slice(entry, slice); if (slice.kind === 1) continue;',
  },
  {
    law: '10', name: 'a remove is dropped on its way to the leaf', caught: history(29),
    file: 'tree/job/merge-work.js', from: 'atLeaf: false, ranges: work.ranges, ...foldingBy(means)', to: 'atLeaf: true, ranges: work.ranges, ...foldingBy(means)',
  },
  {
    law: '11', name: 'an older version is not flushed although a snapshot needs it', caught: scenario('an older version goes down with the newer one while somebody sees it'),
    file: 'tree/job/merge-work.js', from: ' || isSeen(work.snapshots, slice.seq, front.seq(before))', to: '',
  },
  {
    law: '10', name: 'a merge for readers leaves the newest run out', caught: scenario('reads that pay have the runs that they look into merged'),
    file: 'tree/job/merge-buffer-job.js', from: 'sourcesOf(buffer)', to: 'sourcesOf(buffer.slice(1))',
  },
  {
    law: '10', name: 'what reads pay is not counted', caught: scenario('reads that pay have the runs that they look into merged'),
    file: 'tree/read-pressure.js', from: 'paid >= messagesOf(buffer) * mergePrice', to: 'false',
  },
  {
    law: '10', name: 'keys of other leaves go past the buffers too', caught: scenario('keys of one leaf go past the buffers, and what waits goes with them'),
    file: 'tree/job/one-leaf.js', from: '&& front.isWithin(from, to) ?', to: '?',
  },
  {
    law: '10', name: 'what waits for other leaves goes past the buffers too', caught: scenario('keys of one leaf go past the buffers, and what waits goes with them'),
    file: 'tree/job/one-leaf.js', from: 'waiting.every((extent) => isWithin(extent, from, to)) &&', to: '',
  },
  {
    law: '10', name: 'what waits on the way is taken for older than the leaf', caught: scenario('keys of one leaf go past the buffers, and what waits goes with them'),
    file: 'tree/job/one-leaf.js', from: '...sourcesOf([...waiting, ...below])', to: '...sourcesOf([...below, ...waiting])',
  },
  {
    law: '10', name: 'a leaf is passed by though it has keys that are written', caught: scenario('keys of one leaf go past the buffers, and what waits goes with them'),
    file: 'tree/job/one-leaf.js', from: 'front.isWithin(next, undefined) &&', to: '',
  },
  {
    law: '10', name: 'a new run is taken for the oldest of its list', caught: history(22),
    file: 'tree/job/flush-job.js', from: '[...(newest[child] ?? []), ...buffer]', to: '[...buffer, ...(newest[child] ?? [])]',
  },
  {
    law: '10', name: 'versions of a key part into two leaves', caught: clients(6),
    file: 'tree/job/merge-work.js', from: 'const left = Math.max(0, until - sink.rawBytes);', to: "const left = until - sink.rawBytes; if (left <= 0) return 'full';",
  },
  {
    law: '11', name: 'an older version is dropped although a snapshot needs it', caught: history(1),
    file: 'run/merge.js', from: 'const keep = newer === Infinity || (newer > oldest && this.#isSeen(seq, newer));', to: 'const keep = newer === Infinity;',
  },
  {
    law: '11', name: 'updates are folded in the wrong order', caught: history(12),
    file: 'run/pending-updates.js', from: 'concatBytes(operations.toReversed())', to: 'concatBytes(operations)',
  },
  {
    law: '11', name: 'updates are folded that a snapshot tells apart', caught: ranges(1),
    file: 'run/pending-updates.js', from: 'if (isSeen)', to: 'if (false)',
  },
  {
    law: '11', name: 'an update without base ends above the leaf', caught: ranges(1),
    file: 'run/merge.js', from: 'const isAbsent = this.#atLeaf || ', to: 'const isAbsent = true || ',
  },
  {
    law: '11', name: 'an update builds on what a range delete hid', caught: ranges(1),
    file: 'run/merge.js', from: 'range <= pending.oldestSeq ? messageKinds.remove : run.kinds[at]', to: 'run.kinds[at]',
  },
  {
    law: '11', name: 'a front folds an update into what a range delete hid', caught: clients(1),
    file: 'commits.js', from: 'active.seq(entry) < hidden || ', to: '',
  },
  {
    law: '11', name: 'a point read takes the newest update for all of them', caught: clients(2),
    file: 'tree/search.js', from: '(wanted.updates ??= []).push(value);', to: 'wanted.updates ??= [value];',
  },
  {
    law: '11', name: 'a scan takes the newest update for all of them', caught: clients(1),
    file: 'tree/scan-decision.js', from: 'this.#updates.push(run.value(index));', to: 'this.#updates[0] ??= run.value(index);',
  },
  {
    law: '6', name: 'an update forgets what its transaction has said before', caught: clients(1),
    file: 'transaction.js', from: 'concatBytes([own.value, operation])', to: 'operation',
  },
  {
    law: '13', name: 'an update by an unknown function changes nothing', caught: scenario('files with updates are refused by who does not know their functions'),
    file: 'run/update.js', from: 'if (found === undefined)', to: 'if (found === undefined) return { apply: (value) => value, takes: () => true };\n    if (found === undefined)',
  },
  {
    law: '13', name: 'arguments are not checked before the commit', caught: scenario('an unknown function and a wrong argument are refused before the commit'),
    file: 'run/update.js', from: 'if (!functionOf(functions, number).takes(argument))', to: 'if (functionOf(functions, number) === undefined)',
  },
  {
    law: '13', name: 'chains grow without bound', caught: scenario('what is changed often is no long chain'),
    file: 'transaction.js', from: 'count + this.#chainBelow(id, key) > chainMax', to: 'count > chainMax',
  },
  {
    law: '12', name: 'a point read does not ask the range deletes of buffers', caught: ranges(1),
    file: 'tree/search.js', from: 'const hidden = ranges.length === 0 ? 0 : coveringSeq(ranges, key, seq);', to: 'const hidden = 0;',
  },
  {
    law: '12', name: 'a scan does not ask the range deletes of buffers', caught: ranges(1),
    file: 'tree/scan-path.js', from: 'cover.add(ranges);', to: '',
  },
  {
    law: '12', name: 'a scan steps over newer points in a range', caught: history(2),
    file: 'tree/scan-cover.js', from: 'return coveringSeq(this.#own, key, Infinity);', to: 'return Infinity;',
  },
  {
    law: '12', name: 'a snapshot sees range deletes that are newer', caught: ranges(1),
    file: 'tree/scan-cover.js', from: 'if (range.seq <= this.#seq)', to: '',
  },
  {
    law: '12', name: 'points before a range delete of their transaction stay', caught: scenario('points before a range delete of their transaction go, points after it stay'),
    file: 'txn/write-set.js', from: 'return front.ranges.length === 0 || ', to: 'return true || ',
  },
  {
    law: '12', name: 'a range delete in an older transaction takes what it does not see', caught: history(8),
    file: 'transaction.js', from: "this.mode === 'statement' || tree.lastSeq <= this.snapshot)", to: 'true)',
  },
  {
    law: '12', name: 'a range is locked under those who have written', caught: clients(2),
    file: 'txn/range-locks.js', from: 'return users === undefined || users.length === 0 || (users.length === 1 && users[0] === owner);', to: 'return true;',
  },
  {
    law: '12', name: 'a key is locked in the range of another', caught: scenario('a range waits for writers, and writers for it'),
    file: 'txn/range-locks.js', from: "if (lock.held)\n                return 'held';", to: '',
  },
  {
    law: '12', name: 'a range delete is not among the recent keys', caught: scenario('a key that went with a range after the snapshot is a conflict'),
    file: 'commits.js', from: 'this.#state.recent.addRange(dictionary, range);', to: '',
  },
  {
    law: '12', name: 'a subtree goes that a snapshot sees', caught: scenario('a snapshot goes on seeing what a range delete took, and the space comes back after it'),
    file: 'tree/job/subtree.js', from: 'isWhole(range) && range.seq <= context.limits.settledSeq', to: 'isWhole(range)',
  },
  {
    law: '12', name: 'a buffer loses its range deletes when it goes down', caught: ranges(1),
    file: 'tree/job/push-job.js', from: 'return joinRanges(added, below, context.snapshots);', to: 'return below;',
  },
  {
    law: '12', name: 'a leaf keeps what a range delete took', caught: ranges(1),
    file: 'tree/job/push-job.js', from: 'leafWork(context, { sources: sourcesOf(merged), ranges: work.ranges }', to: 'leafWork(context, { sources: sourcesOf(merged), ranges: [] }',
  },
  {
    law: '12', name: 'a log record forgets the bounds of its range', caught: images(1),
    file: 'wal/record.js', from: '(from === undefined ? 0 : 1) | (to === undefined ? 0 : 2)', to: '0',
  },
  {
    law: '15', name: 'an edit is applied to a dictionary that was dropped', caught: scenario('a load that is refused, aborted or dropped gives everything back'),
    file: 'background.js', from: 'if (this.#state.trees.get(tree.id) !== tree)', to: 'if (false)',
  },
  {
    law: '16', name: 'a load that failed keeps its space', caught: scenario('a load that is refused, aborted or dropped gives everything back'),
    file: 'load.js', from: 'for (const block of this.#written)\n            this.#means.state.store.abandon(block);', to: '',
  },
  {
    law: '17', name: 'a load is answered before it is in a checkpoint', caught: scenario('a crash in a load leaves all of it or nothing'),
    file: 'load.js', from: 'await this.#means.checkpoint();', to: '',
  },
  {
    law: '29', name: 'what is written during a load goes to the leaf', caught: scenario('what is written during a load is newer than its rows'),
    file: 'tree/job/flush-job.js', from: 'if (tree.isHollow)', to: 'if (false)',
  },
  {
    law: '29', name: 'range deletes of a load are lost', caught: scenario('what is written during a load is newer than its rows'),
    file: 'tree/job/adopt-job.js', from: 'clipRanges(ranges, root.pivots[child - 1], root.pivots[child])', to: '[]',
  },
  {
    law: '29', name: 'a key that comes twice in a load is not seen', caught: scenario('a load that is refused, aborted or dropped gives everything back'),
    file: 'tree/job/merge-work.js', from: 'if (run !== undefined && at !== undefined && ', to: 'if (false && ',
  },
  {
    law: '14', name: 'an edit is applied in two halves', caught: clients(6),
    file: 'job-runner.js', from: 'this.apply(tree, edit);\n            this',
    to: 'this.apply(tree, { ...edit, nodes: edit.nodes.slice(0, -1) }); await this.#state.env.tasks.pause(); this.apply(tree, { ...edit, nodes: edit.nodes.slice(-1), added: [], dropped: [], removed: [], flushed: undefined, leavesDelta: 0 });\n            this',
  },
  {
    law: '14', name: 'replay gives a tree what it has below its fronts', caught: images(3),
    file: 'commits.js', from: ' || tree.flushedSeq >= this.#seq', to: '',
  },
  {
    law: '14', name: 'a front is frozen in the middle of a commit', caught: scenario('a commit applied in slices is flushed whole'),
    file: 'commits.js', from: 'this.#state.applying = true;', to: '',
  },
  {
    law: '14', name: 'records of a dropped dictionary bring it back', caught: lives(7),
    file: 'commits.js', from: 'tree.droppedSeq = this.#seq;', to: 'if (this.#state.hasLog) tree.droppedSeq = this.#seq;',
  },
  {
    law: '15', name: 'two jobs work on the same nodes at once', caught: clients(37),
    file: 'background.js', from: 'if (frozen !== undefined)\n            return await this.#flush(frozen);', to: 'if (frozen !== undefined) { const both = [this.#flush(frozen), heavy === undefined ? undefined : this.#push(heavy)]; await both[1]; return await both[0]; }',
  },
  {
    law: '16', name: 'space is used again before the next checkpoint is durable', caught: images(1),
    file: 'block/image-lives.js', from: 'if (images.isIn(slot, this.durable) || ', to: 'if (',
  },
  {
    law: '17', name: 'a checkpoint is captured in its middle', caught: images(4),
    file: 'checkpoints.js', from: 'encodeDictionaryTable(capture)', to: 'encodeDictionaryTable({ ...capture, records: [...this.#state.trees.values()].map((tree) => tree.record()) })',
  },
  {
    law: '17', name: 'the superblock is written before its blocks are synced', caught: images(2),
    file: 'block/block-store.js', from: 'const table = await this.#writeTable(captured);\n        await this.#file.sync();', to: 'const table = await this.#writeTable(captured);',
  },
  {
    law: '17', name: 'the log is made shorter than the fronts need', caught: images(1),
    file: 'checkpoints.js', from: 'needed = Math.min(needed, tree.oldestUnflushed ?? Infinity);', to: '',
  },
  {
    law: '17', name: 'the log is made shorter before the checkpoint is durable', caught: scenario('the log is made shorter only behind a durable checkpoint'),
    file: 'checkpoints.js', from: 'await this.#write(capture);', to: 'await this.#state.log.trim(capture.root.logFrom.seq - 1); await this.#write(capture);',
  },
  {
    law: '17', name: 'totals that cancel out leave an old seq behind', caught: scenario('totals that cancel out pin no log'),
    file: 'tree/front.js', from: 'if (this.isVoid)\n            this.seqMin = seq;\n        if (seq > this.seqMax)', to: 'if (this.seqMin === 0)\n            this.seqMin = seq;\n        if (seq > this.seqMax)',
  },
  {
    law: '18', name: 'the copies of a superblock are written without a sync between', caught: images(2),
    file: 'block/data-file.js', from: 'await file.sync();', to: '',
  },
  {
    law: '20', name: 'a segment is not synced before it is used', caught: scenario('a log segment is whole on the disk before it is used'),
    file: 'wal/segment.js', from: 'await file.sync();', to: '',
  },
  {
    law: '20', name: 'the name of a new segment is not synced', caught: images(1),
    file: 'wal/segment.js', from: '        await file.sync();\n        await env.files.syncDirectory(directory);', to: '        await file.sync();',
  },
  {
    law: '20', name: 'the name of a recycled segment is not synced', caught: scenario('nothing of a recycled segment comes back'),
    file: 'wal/segment.js', from: 'await env.files.rename(spare.path, path);\n    await env.files.syncDirectory(directory);', to: 'await env.files.rename(spare.path, path);',
  },
  {
    law: '20', name: 'a record of an earlier life validates', caught: scenario('nothing of a recycled segment comes back'),
    file: 'wal/group.js', from: '(segment ^ Math.floor(segment / twoTo32)) >>> 0', to: '0',
  },
  {
    law: '21', name: 'the log ends silently at a damaged group', caught: scenario('damage in the log is refused and named, a torn end is cut'),
    file: 'wal/log-reader.js', from: 'if (header.synced > this.#newest)', to: 'if (false)',
  },
  {
    law: '21', name: 'a log that is gone is an empty log', caught: scenario('a log that is gone is refused, and so is a data file'),
    file: 'wal/redo-log.js', from: 'if (lastSeq < recovery.upTo)', to: 'if (false)',
  },
  {
    law: '21', name: 'a directory whose data file is gone is a new one', caught: scenario('a log that is gone is refused, and so is a data file'),
    file: 'backup/data-directory.js', from: '(await listSegments(env, log)).length > 0', to: 'false',
  },
  {
    law: '21', name: 'two groups are in flight', caught: images(1),
    file: 'wal/redo-log.js', from: 'return writing.then(written);', to: 'void writing.then(written); written(); return undefined;',
  },
  {
    law: '22', name: 'recovery does not write the last groups again', caught: lives(5),
    file: 'wal/redo-log.js', from: 'await log.#repeat(end.tail);', to: 'log.#chain = 0; if (end.tail.length > 0) { const { number, firstSeq, bodies, chain } = end.tail.at(-1); log.#chain = chain; }',
  },
  {
    law: '22', name: 'recovery writes only the last of the groups again that were not synced', caught: lives(72),
    file: 'wal/redo-log.js', from: 'await log.#repeat(end.tail);', to: 'await log.#repeat(end.tail.slice(-1));',
  },
  {
    law: '22', name: 'a group that recovery repeats is out of the chain', caught: lives(19),
    file: 'wal/redo-log.js', from: 'this.#chain = first.chain;', to: '',
  },
  {
    law: '22', name: 'recovery does not write the superblock again that it chose', caught: scenario('a superblock that is in the page cache only is written again'),
    file: 'block/block-store.js', from: 'await writeSuperblock(file, chosen.superblock, chosen.slot);', to: '',
  },
  {
    law: '24', name: 'the name of the data directory is not synced', caught: images(1),
    file: 'backup/data-directory.js', from: 'await env.files.syncDirectory(parentOf(at))', to: 'await Promise.resolve()',
  },
  {
    law: '24', name: 'the name of the log directory is not synced', caught: images(1),
    file: 'recovery.js', from: 'await state.env.files.syncDirectory(state.path);', to: '',
  },
  {
    law: '25', name: 'a failed checkpoint does not poison', caught: scenario('a checkpoint that failed poisons'),
    file: 'checkpoints.js', from: 'throw this.#state.poison(error);\n            this.#undo', to: 'throw error;\n            this.#undo',
  },
  {
    law: '25', name: 'a full disk refuses deletes', caught: scenario('a full disk refuses what grows, lets deletes through, and uses what they give back'),
    file: 'record-room.js', from: 'const urgent = state.isFull && this.#writes.givesBack;', to: 'const urgent = false;',
  },
  {
    law: '25', name: 'jobs have no reserve', caught: scenario('deletes go down with the space that is kept for jobs'),
    file: 'block/block-file.js', from: "user === 'rescue' && isNoSpace(error)", to: 'false',
  },
  {
    law: '25', name: 'the log promises room that others have taken', caught: scenario('commits that begin together have room in the log each for itself'),
    file: 'wal/redo-log.js', from: 'return this.#unplaced + waiting + groupBytes', to: 'return groupBytes',
  },
  {
    law: '26', name: 'the cache of parts does not shrink', caught: scenario('memory stays within the budget'),
    file: 'cache/part-cache.js', from: 'while (looks-- > 0 && this.bytes > limit && ring.bytes > least)', to: 'while (false)',
  },
  {
    law: '26', name: 'pins outlive their batch', caught: scenario('memory stays within the budget'),
    file: 'reads.js', from: 'this.#state.cache.unpin(key);', to: ';',
  },
  {
    law: '27', name: 'sorted pieces do not merge in the order of age', caught: history(4),
    file: 'tree/front-image.js', from: 'return order !== 0 ? order : b - a;', to: 'return order !== 0 ? order : a - b;',
  },
  {
    law: '28', name: 'a filter does not know a key of its basements', caught: history(22),
    file: 'run/extent.js', from: 'filter.add(slice.hash);', to: 'if (slice.hash % 7 !== 6) filter.add(slice.hash);',
  },
  {
    law: '28', name: 'filters are not asked', caught: scenario('a key that is not there costs no block while filters fit'),
    file: 'tree/search.js', from: 'if (!filter.mayHold(hash))', to: 'if (false)',
  },
  {
    law: '28', name: 'filters go with the data', caught: scenario('a key that is not there costs no block while filters fit'),
    file: 'cache/part-cache.js', from: 'this.#rings[keeping.as]', to: 'this.#rings.data',
  },
  {
    law: '15', name: 'a join of leaves forgets what waits for them', caught: scenario('joining neighbours keeps what waits for them'),
    file: 'tree/job/tidy-job.js', from: 'sourcesOf(dropped)', to: 'sourcesOf(dropped.slice(waiting.length))',
  },
  {
    law: '15', name: 'a join of nodes forgets what waits in one of them', caught: scenario('joining neighbours keeps what waits for them'),
    file: 'tree/job/tidy-job.js', from: 'buffers: [...left.buffers, ...right.buffers],', to: 'buffers: [...left.buffers, ...right.buffers.map(() => [])],',
  },
  {
    law: '16', name: 'freed space is left where it is', caught: scenario('deleting most rows makes tree and file small by itself'),
    file: 'tidy.js', from: 'if (!isTight && this.#moves < movesMax && (await this.#moveDown()))', to: 'if (false)',
  },
  {
    law: '14', name: 'a node that was read before an edit is taken for what it is', caught: scenario('a node that was changed while it was read is read again'),
    file: 'parts.js', from: 'miss.part === undefined && tree.version !== version;', to: 'false;',
    and: { file: 'checkpoints.js', from: 'cache.forget(nodeKey(node.number));', to: '' },
  },
  {
    law: '19', name: 'what a dead worker had made is kept', caught: scenario('a worker that dies leaves nothing, and its job runs once more'),
    file: 'merge-runner.js', from: 'store.abandon(number);', to: 'continue;',
  },
  {
    law: '19', name: 'a dead worker is asked again', caught: scenario('a worker that dies leaves nothing, and its job runs once more'),
    file: 'merge-runner.js', from: `// The thread has ended, and what it had made was written by this one: the leases are free.
            this.#channel = undefined;`, to: '',
  },
  {
    law: '19', name: 'the first death poisons', caught: scenario('a worker that dies leaves nothing, and its job runs once more'),
    file: 'merge-runner.js', from: 'attempt === attemptsMax', to: 'attempt === 1',
  },
  {
    law: '19', name: 'a job that kills its workers is tried for ever', caught: scenario('a second death in the same job poisons'),
    file: 'merge-runner.js', from: 'attempt === attemptsMax', to: 'attempt === Infinity',
  },
];
