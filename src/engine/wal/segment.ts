// Segment files of the redo log: DBPATH/log/0000000001.log and so on. A segment is written full and synced, and its directory synced, before
// it is used (law 20); its number is never used again. A segment that is no longer needed becomes a later one by a new name.

import { must } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Env, File } from '../../env/index.ts';
import { groupUnit } from './group.ts';

/** A segment that is open for writing. */
export interface Segment {
  readonly number: number;
  readonly file: File;
  readonly size: number;
}

/** A segment file as found. */
export interface SegmentFile {
  readonly number: number;
  readonly path: string;
}

/** A segment that holds groups, up to an offset. */
export interface WrittenSegment extends SegmentFile {
  readonly end: number;
}

const namePattern = /^(\d{10,})\.log$/;
const zeros = new Uint8Array(256 * 1024);

/** Where segment `number` lies; listSegments reads the number back from the name. */
function segmentPath(directory: string, number: number): string {
  return `${directory}/${String(number).padStart(10, '0')}.log`;
}

/** The segments of a directory by number. Other files are left alone. */
export async function listSegments(env: Env, directory: string): Promise<SegmentFile[]> {
  const names = await env.files.list(directory);
  return names
    .map((name) => namePattern.exec(name))
    .filter((match) => match !== null)
    .map((match) => ({ number: Number(match[1]), path: `${directory}/${match[0]}` }))
    .sort((a, b) => a.number - b.number);
}

/** How a segment is made: of at least so many bytes, full or to be grown, and whether writes to it are durable by themselves. */
export interface SegmentOptions {
  readonly size: number;
  readonly preallocates: boolean;
  readonly durableWrites: boolean;
}

/** Makes a segment: full if it is to be, synced, named durably. What was begun is removed when it fails. */
export async function createSegment(env: Env, directory: string, number: number, options: SegmentOptions): Promise<Segment> {
  const size = Math.ceil(options.size / groupUnit) * groupUnit;
  const path = segmentPath(directory, number);
  const file = await env.files.open(path, 'create', { durableWrites: false });
  try {
    for (let at = 0; options.preallocates && at < size; at += zeros.length) await file.write(zeros.subarray(0, Math.min(zeros.length, size - at)), at);
    await file.sync();
    await env.files.syncDirectory(directory);
  } catch (error) {
    await file.close();
    // Only a full disk is gone on from; after anything else the next start removes it, and nobody is answered meanwhile.
    if (error instanceof EngineError && error.code === 'no-space') await env.files.remove(path).catch((cause: unknown) => cause);
    throw error;
  }
  await file.close();
  return { number, file: await env.files.open(path, 'write', { durableWrites: options.durableWrites }), size };
}

/** Makes a spare segment the one of that number. */
export async function recycleSegment(env: Env, directory: string, number: number, spare: { readonly path: string; readonly durableWrites: boolean }): Promise<Segment> {
  const path = segmentPath(directory, number);
  await env.files.rename(spare.path, path);
  await env.files.syncDirectory(directory);
  const file = await env.files.open(path, 'write', { durableWrites: spare.durableWrites });
  return { number, file, size: await file.size() };
}

/** The highest number in use, or 0. */
export function highestNumber(segments: readonly SegmentFile[]): number {
  return segments.length === 0 ? 0 : must(segments.at(-1), 'a last segment').number;
}
