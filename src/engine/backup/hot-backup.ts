// Hot backup: a directory that opens, of an environment that goes on. The durable checkpoint is held and copied block by block; meanwhile the log is
// not made shorter, and is copied last: what opens is everything that was acknowledged before the copy of the log began (laws 16 and 21).

import { EngineError } from '../../base/errors.ts';
import type { Env, File } from '../../env/index.ts';
import { listBlobSegments, segmentPath } from '../blob/blob-segment.ts';
import type { BlockStore } from '../block/block-store.ts';
import type { BackupReport } from '../types.ts';
import { listSegments } from '../wal/segment.ts';
import { copyDataFile } from './copied-data-file.ts';
import type { CopyProgress } from './copied-data-file.ts';
import { finishDirectory, unfinishedDataFile } from './data-directory.ts';

/** The environment that is copied. */
export interface BackupSource {
  readonly env: Env;
  readonly path: string;
  readonly store: BlockStore;
  /** Makes a checkpoint. */
  readonly checkpoint: () => Promise<void>;
  /** Number of the log segment that is written now. */
  readonly currentSegment: () => number;
}

const pieceBytes = 1024 * 1024;

/**
 * Copies the environment into the directory `target`, which is made, and must be empty when it is there (`io`). The caller keeps the log from being
 * made shorter until this has settled. A backup that fails leaves a directory that does not open.
 */
export async function backUp(source: BackupSource, target: string, progress: CopyProgress): Promise<BackupReport> {
  const { env } = source;
  if ((await env.files.exists(target)) && (await env.files.list(target)).length > 0) throw new EngineError('io', `${target} is not empty`, { place: { file: target } });
  await env.files.makeDirectory(target);
  const part = `${target}/${unfinishedDataFile}`;
  const file = await env.files.open(part, 'create', { durableWrites: false });
  let report: BackupReport;
  try {
    // From here on, whatever comes, the directory is one that does not open.
    await env.files.syncDirectory(target);
    report = await copyInto(source, { target, file, progress });
  } finally {
    await file.close();
  }
  await finishDirectory(env, target);
  return report;
}

interface Target {
  readonly target: string;
  readonly file: File;
  readonly progress: CopyProgress;
}

async function copyInto({ env, path, store, checkpoint, currentSegment }: BackupSource, { target, file, progress }: Target): Promise<BackupReport> {
  await env.files.makeDirectory(`${target}/log`);
  await checkpoint();
  const held = store.hold();
  try {
    const large = await bytesOfBlobs(env, `${path}/blob`);
    const dataBytes = await copyDataFile(env, held, file, (done, total) => progress(done, total + large));
    const segments = { first: held.superblock.root?.logFrom.segment ?? 1, last: currentSegment() };
    const logBytes = await copyLog(env, `${path}/log`, `${target}/log`, segments);
    await env.files.syncDirectory(`${target}/log`);
    // Last: whatever the log names was there before it.
    const blobBytes = await copyBlobs(env, { from: `${path}/blob`, to: `${target}/blob` }, (done) => progress(dataBytes + done, dataBytes + Math.max(large, done)));
    return { dataBytes: dataBytes + blobBytes, logBytes };
  } finally {
    held.release();
  }
}

/** Copies segments up to the one that was current when this began: all before it are full, so what is copied is a prefix of the log. */
async function copyLog(env: Env, from: string, to: string, { first, last }: { readonly first: number; readonly last: number }): Promise<number> {
  let bytes = 0;
  for (const segment of await listSegments(env, from)) {
    if (segment.number < first || segment.number > last) continue;
    bytes += await copyFile(env, segment.path, `${to}/${segment.path.slice(from.length + 1)}`);
  }
  return bytes;
}

/** Copies all segments of large values; those that come meanwhile are named by no record that was copied. None goes while a backup is made. */
async function copyBlobs(env: Env, { from, to }: { readonly from: string; readonly to: string }, progress: (done: number) => void): Promise<number> {
  const segments = await listBlobSegments(env, from);
  if (segments.length === 0) return 0;
  await env.files.makeDirectory(to);
  let bytes = 0;
  for (const segment of segments) {
    bytes += await copyFile(env, segmentPath(from, segment), segmentPath(to, segment));
    progress(bytes);
  }
  await env.files.syncDirectory(to);
  return bytes;
}

/** Bytes of large values, as far as files go now. */
async function bytesOfBlobs(env: Env, directory: string): Promise<number> {
  let bytes = 0;
  for (const segment of await listBlobSegments(env, directory)) {
    const file = await env.files.open(segmentPath(directory, segment), 'read');
    bytes += await file.size().finally(() => file.close());
  }
  return bytes;
}

/** Copies a file as far as it goes now; durable when this resolves. */
async function copyFile(env: Env, from: string, to: string): Promise<number> {
  const source = await env.files.open(from, 'read');
  const target = await env.files.open(to, 'create', { durableWrites: false });
  try {
    const size = await source.size();
    for (let at = 0; at < size; at += pieceBytes) {
      const piece = new Uint8Array(Math.min(pieceBytes, size - at));
      await source.read(piece, at);
      await target.write(piece, at);
      await env.tasks.pause();
    }
    await target.sync();
    return size;
  } finally {
    await source.close().finally(() => target.close());
  }
}
