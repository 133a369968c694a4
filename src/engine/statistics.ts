// The counters of an environment, put together from those who count.

import type { EngineState } from './state.ts';
import type { EngineStatistics } from './types.ts';

/** The counters and sizes of all parts at this moment; makes a new object. */
export function statisticsOf(state: EngineState): EngineStatistics {
  const { counters, log, store, blobs, budget, cache, snapshots, trees } = state;
  const blocks = store.statistics;
  const large = blobs.sizes;
  return {
    commits: counters.commits,
    aborts: counters.aborts,
    conflicts: counters.conflicts,
    logBytesWritten: log.counters.bytes,
    logSyncs: log.counters.syncs,
    logGroups: log.counters.groups,
    dataBytesWritten: blocks.written,
    dataBytesRead: blocks.read,
    checkpoints: counters.checkpoints,
    lastCheckpointMs: counters.lastCheckpointMs,
    jobs: counters.jobs,
    sentJobs: counters.sentJobs,
    workerDeaths: counters.workerDeaths,
    cacheBytesMax: budget.bytesMax,
    cacheBytesUsed: cache.bytes + budget.heldTotal,
    frontBytes: budget.held('fronts'),
    writeSetBytes: budget.held('writeSets'),
    openTransactions: counters.openTransactions,
    openSnapshots: snapshots.count,
    dataFileBytes: blocks.fileBytes,
    freeableBytes: blocks.freeableBytes + large.garbage,
    logBytesOnDisk: log.bytesOnDisk,
    dictionaries: trees.size,
    blobFileBytes: large.files,
    blobLiveBytes: large.live,
    blobSegments: large.segments,
    blobBytesWritten: blobs.counters.written,
    blobBytesRead: blobs.counters.read,
    blobBytesMoved: blobs.counters.moved,
  };
}
