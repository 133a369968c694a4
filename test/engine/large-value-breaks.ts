// Law 23 broken one by one, as planted-breaks.ts has the others.

import { scenario, seeded } from './planted-break.ts';
import type { PlantedBreak } from './planted-break.ts';

const history = seeded('large history');
const clients = seeded('large clients');
const images = seeded('large images');

const spaceComesBack = scenario('large values that are overwritten or deleted give their space back');

export const largeValueBreaks: readonly PlantedBreak[] = [
  {
    law: '25', name: 'a read that fails in the collector of large values ends everything', caught: seeded('large weather')(27),
    file: 'blob-collector.js', from: "throw error instanceof EngineError && error.code === 'io' ?", to: 'throw false ?',
  },
  {
    law: '11', name: 'a batch that updates have removed rows of is short', caught: scenario('a batch is full though updates have removed rows of it'),
    file: 'cursor.js', from: 'if (!batch.hasGone || this.#ended)', to: 'if (batch.length > 0 || this.#ended)',
  },
  {
    law: '23', name: 'a reference is logged before its blob is safe', caught: images(1),
    file: 'blob-writes.js', from: 'await this.sync();', to: '',
  },
  {
    law: '23', name: 'the name of a new blob segment is not synced', caught: images(1),
    file: 'blob/blob-segment.js', from: 'await env.files.syncDirectory(directory);', to: '',
  },
  {
    law: '23', name: 'a sync of blobs covers writes that are still under way', caught: images(1),
    file: 'blob/blob-segment.js', from: 'this.#synced = Math.max(this.#synced, covers);', to: 'this.#synced = Infinity;',
  },
  {
    law: '23', name: 'a segment goes before the checkpoint is durable that names it no more', caught: images(3),
    file: 'checkpoints.js', from: 'const capture = this.#capture();', to: 'const capture = this.#capture(); await this.#state.blobs.remove(this.#state.blobs.removable(Infinity));',
  },
  {
    law: '23', name: 'a segment goes that an open transaction has written into', caught: scenario('a segment stays while somebody may read it'),
    file: 'blob/blob-segment.js', from: 'return this.inTrees + this.inFronts === 0 && this.pinned === 0;', to: 'return this.inTrees + this.inFronts === 0;',
  },
  {
    law: '23', name: 'a segment goes under a read of many rows', caught: clients(597),
    file: 'blob/blob-store.js', from: '[...this.#reads].some(({ began }) => began < emptyTick)', to: 'false',
  },
  {
    law: '23', name: 'what a front refers to does not keep its segment', caught: history(4),
    file: 'blob/blob-segment.js', from: 'return this.inTrees + this.inFronts === 0 && this.pinned === 0;', to: 'return this.inTrees === 0 && this.pinned === 0;',
    and: { file: 'blob/blob-store.js', from: '(segment.emptySince ?? Infinity) < logFrom', to: 'true' },
  },
  {
    law: '23', name: 'live bytes are not lowered by what a tree drops', caught: history(1),
    file: 'job-runner.js', from: "this.#state.blobs.count(extent.fences.blobs, 'inTrees', -1);", to: '',
  },
  {
    law: '23', name: 'live bytes are not lowered by a flushed front', caught: spaceComesBack,
    file: 'job-runner.js', from: "state.blobs.count(edit.flushed.blobs(), 'inFronts', -1);", to: '',
  },
  {
    law: '23', name: 'an aborted transaction keeps its blobs', caught: scenario('what is not committed of large values is garbage'),
    file: 'blob-writes.js', from: "this.#state.blobs.count(this.#pinned, 'pinned', -1);", to: '',
  },
  {
    law: '23', name: 'a blob is moved without its key\'s lock', caught: clients(5),
    file: 'blob-collector.js', from: 'await transaction.lock(tree.id, head.key);', to: '',
  },
  {
    law: '23', name: 'a blob is moved without looking whether it is referred to', caught: history(1),
    file: 'blob-collector.js', from: 'if (!isReference(found) || found.segment !== segment.number || found.offset !== head.offset)', to: 'if (false)',
  },
  {
    law: '23', name: 'a moved blob is logged before it is safe', caught: images(3),
    file: 'blob-collector.js', from: 'await writes.sync();', to: '',
  },
  {
    law: '23', name: 'a large value that only a front refers to is not verified', caught: scenario('a damaged large value is named and costs itself alone'),
    file: 'verify.js', from: 'await checkFronts(engine, tree)', to: '[]',
  },
  {
    law: '23', name: 'the checksum of a large value is not checked', caught: scenario('a damaged large value is named and costs itself alone'),
    file: 'blob/blob-body.js', from: 'checksum === checksums[first + block]', to: 'true',
  },
  {
    law: '23', name: 'a load is answered before its large values are safe', caught: scenario('a load with large values outlives a power failure'),
    file: 'load.js', from: 'await this.#blobs.sync();', to: '',
  },
  {
    law: '23', name: 'a backup leaves the large values out', caught: scenario('a backup has the large values'),
    file: 'backup/hot-backup.js', from: 'for (const segment of segments) {', to: 'for (const segment of []) {',
  },
  {
    law: '23', name: 'segments with much garbage are left as they are', caught: spaceComesBack,
    file: 'blob-collector.js', from: 'return part >= idlePart ? loosest :', to: 'return false ? loosest :',
  },
  {
    law: '23', name: 'empty segments are left where they are', caught: spaceComesBack,
    file: 'tidy.js', from: 'if (this.#emptyBlobs())', to: 'if (false)',
  },
];
