// One file of blobs: DBPATH/blob/0000000001.blob and so on. Blobs are appended; a number is never used again. A sync covers every write that was
// over when it began, so those who wait at once share one.

import { EngineError } from '../../base/errors.ts';
import type { Env, File } from '../../env/index.ts';
import { blobBytes, blobUnit, decodeBlobHead, encodeSegmentHead, fixedHeadBytes, segmentHeadBytes } from './blob-image.ts';
import type { BlobHead, SegmentKind } from './blob-image.ts';

const namePattern = /^(\d{10,})\.blob$/;

/** Where a segment lies. */
export function segmentPath(directory: string, segment: number): string {
  return `${directory}/${String(segment).padStart(10, '0')}.blob`;
}

/** Numbers of the segments in a directory, ascending; none when it is not there. */
export async function listBlobSegments(env: Env, directory: string): Promise<number[]> {
  if (!(await env.files.exists(directory))) return [];
  const names = await env.files.list(directory);
  return names.map((name) => namePattern.exec(name)).filter((match) => match !== null).map((match) => Number(match[1])).sort((a, b) => a - b);
}

/** A segment of a directory, and what is known of it. */
export class BlobSegment {
  readonly number: number;
  readonly kind: SegmentKind;
  readonly path: string;
  /** Where the next blob goes; of one that takes no more, its length. */
  end: number;
  /** Takes no more blobs. */
  isSealed: boolean;
  /** Bytes of blobs that trees refer to, that fronts refer to, and that transactions and loads have written and may still refer to. */
  inTrees: number = 0;
  inFronts: number = 0;
  pinned: number = 0;
  readers: number = 0;
  writing: number = 0;
  /** `visible` when nothing referred to it any more; undefined while something does. */
  emptySince: number | undefined;
  /** When that was, beside the reads that went on. */
  emptyTick: number = 0;
  /** What could be moved was moved: what refers to it yet is old. */
  isDrained: boolean = false;
  #file: File | undefined;
  #opening: Promise<File> | undefined;
  /** Writes that are over, and those that a sync has covered. */
  #written: number = 0;
  #synced: number = 0;
  #syncing: Promise<void> | undefined;

  constructor(directory: string, { number, kind, end, isSealed }: { readonly number: number; readonly kind: SegmentKind; readonly end: number; readonly isSealed: boolean }) {
    this.number = number;
    this.kind = kind;
    this.path = segmentPath(directory, number);
    this.end = end;
    this.isSealed = isSealed;
  }

  /** Makes the file, durably named (law 24). What was begun is removed when there is no space. */
  static async create(env: Env, directory: string, number: number, kind: SegmentKind): Promise<BlobSegment> {
    const segment = new BlobSegment(directory, { number, kind, end: segmentHeadBytes, isSealed: false });
    const file = await env.files.open(segment.path, 'create', { durableWrites: false });
    try {
      await file.write(encodeSegmentHead(number, kind), 0);
      await env.files.syncDirectory(directory);
    } catch (error) {
      await file.close();
      if (error instanceof EngineError && error.code === 'no-space') await env.files.remove(segment.path).catch((cause: unknown) => cause);
      throw error;
    }
    segment.#file = file;
    segment.#written = 1;
    return segment;
  }

  /** Bytes that something refers to. */
  get liveBytes(): number {
    return this.inTrees + this.inFronts;
  }

  /** Bytes that nothing refers to. */
  get garbageBytes(): number {
    return Math.max(0, this.end - segmentHeadBytes - this.liveBytes - this.pinned);
  }

  /** Whether nothing refers to it, or may. */
  get isEmpty(): boolean {
    return this.inTrees + this.inFronts === 0 && this.pinned === 0;
  }

  /** Whether the file may be closed: it can be opened again. */
  get isIdle(): boolean {
    return this.readers === 0 && this.writing === 0 && this.#written === this.#synced && this.#syncing === undefined && this.isSealed;
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** Takes the place of a blob of so many bytes. */
  take(bytes: number): number {
    const at = this.end;
    this.end += bytes;
    return at;
  }

  /** Writes at a place that was taken. */
  async write(sources: readonly Uint8Array[], at: number, env: Env): Promise<void> {
    this.writing += 1;
    try {
      await (await this.#open(env)).writev(sources, at);
      this.#written += 1;
    } finally {
      this.writing -= 1;
    }
  }

  /** What lies behind `end` is taken back, as far as that can be. */
  async cut(env: Env): Promise<void> {
    await (await this.#open(env)).truncate(this.end);
  }

  /** Makes durable every write that was over before the call. */
  async sync(env: Env): Promise<void> {
    const wanted = this.#written;
    while (this.#synced < wanted) {
      if (this.#syncing === undefined) {
        const covers = this.#written;
        const file = await this.#open(env);
        // Another one may have begun meanwhile.
        this.#syncing ??= file.sync().then(() => {
          this.#synced = Math.max(this.#synced, covers);
        }).finally(() => {
          this.#syncing = undefined;
        });
      }
      await this.#syncing;
    }
  }

  /** Reads at once where that is quick; undefined: it is not. */
  readNow(target: Uint8Array, offset: number): number | undefined {
    return this.#file?.readNow(target, offset);
  }

  /** Fills `target` from `offset`, or as much as the file has. */
  async read(target: Uint8Array, offset: number, env: Env): Promise<number> {
    this.readers += 1;
    try {
      return await (await this.#open(env)).read(target, offset);
    } finally {
      this.readers -= 1;
    }
  }

  async #open(env: Env): Promise<File> {
    if (this.#file !== undefined) return this.#file;
    this.#opening ??= env.files.open(this.path, this.isSealed ? 'read' : 'write').then((file) => {
      this.#file = file;
      return file;
    }).finally(() => {
      this.#opening = undefined;
    });
    return await this.#opening;
  }

  /** Takes the length of the file for its end, where nothing else is known of it. */
  async measure(env: Env): Promise<void> {
    this.end = await (await this.#open(env)).size();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

const windowBytes = 256 * 1024;

/** A blob of a segment as its head tells. */
export interface MetBlob {
  readonly head: BlobHead;
  readonly checksum: number;
}

/**
 * The heads of a segment's blobs in order, bodies unread. Where there is none (a write that a crash cut off, or damage) the next whole one is
 * looked for; `skipped` is told what was stepped over.
 */
export async function* headsOf(env: Env, segment: BlobSegment, skipped: (offset: number, bytes: number) => void = () => undefined): AsyncGenerator<MetBlob> {
  let at = segmentHeadBytes;
  let gap = at;
  const window = new Window(env, segment);
  while (at + fixedHeadBytes <= segment.end) {
    const met = await window.headAt(at);
    if (met === undefined || met.head.segment !== segment.number || met.head.offset !== at) {
      at += blobUnit;
      continue;
    }
    if (gap < at) skipped(gap, at - gap);
    yield met;
    at += blobBytes(met.head.key.length, met.head.stored);
    gap = at;
  }
  if (gap + fixedHeadBytes <= segment.end) skipped(gap, segment.end - gap);
}

/** Bytes of a segment around the place that is looked at. */
class Window {
  readonly #env: Env;
  readonly #segment: BlobSegment;
  #bytes: Uint8Array = new Uint8Array(0);
  #from: number = 0;

  constructor(env: Env, segment: BlobSegment) {
    this.#env = env;
    this.#segment = segment;
  }

  async headAt(offset: number): Promise<MetBlob | undefined> {
    let wanted = fixedHeadBytes;
    for (;;) {
      await this.#fill(offset, wanted);
      const found = decodeBlobHead(this.#bytes, offset - this.#from);
      if (found === undefined || 'head' in found) return found === undefined ? undefined : { checksum: found.checksum, head: { ...found.head, key: found.head.key.slice() } };
      if (found.more <= wanted || this.#from + this.#bytes.length >= this.#segment.end) return undefined;
      wanted = found.more;
    }
  }

  /** Has `length` bytes from `offset` on, as far as the file goes. After a jump it reads no more than a head is likely to take. */
  async #fill(offset: number, length: number): Promise<void> {
    const end = this.#from + this.#bytes.length;
    if (offset >= this.#from && offset + length <= end) return;
    const isNear = offset <= end + windowBytes / 8;
    const target = new Uint8Array(Math.min(Math.max(length, isNear ? windowBytes : 4096), Math.max(0, this.#segment.end - offset)));
    const read = await this.#segment.read(target, offset, this.#env);
    this.#bytes = target.subarray(0, read);
    this.#from = offset;
  }
}
