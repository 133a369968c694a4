// Large values beside the tree: written once, at their put, into append-only segments; log and tree hold references (law 23). The store counts what
// refers to each segment, so it knows garbage without reading, and a segment that nothing refers to any more goes as soon as no recovery can want
// it. A blob is safe when its segment was synced; whoever logs a reference waits for that first.

import { EngineError } from '../../base/errors.ts';
import type { Codec, Env } from '../../env/index.ts';
import { encodeBody } from './blob-body.ts';
import { blobBytes, decodeSegmentHead, encodeBlobHead, segmentHeadBytes, segmentKinds } from './blob-image.ts';
import type { SegmentKind } from './blob-image.ts';
import { BlobSegment, listBlobSegments, segmentPath } from './blob-segment.ts';
import { HeadMemory } from './head-memory.ts';
import { readBlob } from './read-blob.ts';
import type { BlobOwner, BlobPlace } from './read-blob.ts';

/** What a checkpoint keeps of a segment. */
export interface SegmentRecord {
  readonly number: number;
  readonly kind: SegmentKind;
  readonly isSealed: boolean;
  readonly end: number;
  /** Bytes of blobs that the trees of the checkpoint refer to. */
  readonly live: number;
}

/** What a checkpoint keeps of all segments. */
export interface BlobTable {
  readonly nextSegment: number;
  readonly segments: readonly SegmentRecord[];
}

/** Bytes of blobs by segment. */
type Tally = ReadonlyMap<number, number>;

/** Who refers to blobs: trees below their fronts, fronts, or those who have written what is not committed. */
export type Referrer = 'inTrees' | 'inFronts' | 'pinned';

/** Files that are open at once, beside those that are written. */
const openMax = 64;
/** A sealed segment below this part of a full one is worth putting together with others. */
const smallPart = 1 / 8;

/** The blobs of an environment. */
export class BlobStore {
  readonly directory: string;
  readonly #env: Env;
  readonly #segmentBytes: number;
  readonly #visible: () => number;
  readonly #segments: Map<number, BlobSegment> = new Map();
  /** The segments that take blobs, by kind. */
  readonly #active: Map<SegmentKind, BlobSegment> = new Map();
  readonly #creating: Map<SegmentKind, Promise<void>> = new Map();
  /** Reads of many rows that go on, by when they began, and the clock of that. */
  readonly #reads: Set<{ readonly began: number }> = new Set();
  #ticks: number = 0;
  #isMade: boolean = false;
  #next: number = 1;
  readonly heads: HeadMemory = new HeadMemory();
  readonly counters: { written: number; read: number; moved: number; removed: number } = { written: 0, read: 0, moved: 0, removed: 0 };

  /** `visible`: the newest commit that can have named a blob. */
  constructor(env: Env, directory: string, { segmentBytes, visible }: { readonly segmentBytes: number; readonly visible: () => number }) {
    this.#env = env;
    this.#visible = visible;
    this.directory = directory;
    this.#segmentBytes = segmentBytes;
  }

  /** Takes over what a checkpoint knows and what lies in the directory; before replay, which counts what fronts refer to. */
  async open(table: BlobTable): Promise<void> {
    this.#next = table.nextSegment;
    const found = new Set(await listBlobSegments(this.#env, this.directory));
    this.#isMade = found.size > 0;
    for (const { number, kind, isSealed, end, live } of table.segments) {
      // A segment that nothing referred to may have gone after the checkpoint.
      if (!found.has(number) && live === 0) continue;
      const segment = new BlobSegment(this.directory, { number, kind, end, isSealed: true });
      segment.inTrees = live;
      if (!isSealed && found.has(number)) segment.end = (await probe(this.#env, segment)).end;
      this.#segments.set(number, segment);
      found.delete(number);
    }
    for (const number of found) {
      const { end, kind } = await probe(this.#env, { number, path: segmentPath(this.directory, number) });
      this.#segments.set(number, new BlobSegment(this.directory, { number, kind, end, isSealed: true }));
      this.#next = Math.max(this.#next, number + 1);
    }
  }

  /** Replay is over: what nothing refers to is empty from now on. */
  settle(): void {
    for (const segment of this.#segments.values()) this.#note(segment);
  }

  /** Notes since when nothing refers to a segment. */
  #note(segment: BlobSegment): void {
    if (!segment.isEmpty) segment.emptySince = undefined;
    else if (segment.emptySince === undefined) {
      segment.emptySince = this.#visible();
      segment.emptyTick = ++this.#ticks;
    }
  }

  /** What the checkpoint that is captured now keeps. */
  table(): BlobTable {
    const segments = [...this.#segments.values()].map(({ number, kind, isSealed, end, inTrees }) => ({ number, kind, isSealed, end, live: inTrees }));
    return { nextSegment: this.#next, segments };
  }

  get segments(): IterableIterator<BlobSegment> {
    return this.#segments.values();
  }

  segment(number: number): BlobSegment | undefined {
    return this.#segments.get(number);
  }

  /**
   * Writes a value into a blob of its own; not synced. It is pinned until `count` takes that back. `no-space`: nothing of it is kept. Any other
   * error poisons.
   */
  async write(value: Uint8Array, owner: BlobOwner | undefined, codec: Codec): Promise<BlobPlace> {
    const body = await encodeBody(value, codec, this.#env.tasks);
    return await this.#append(owner, { ...body, stored: body.bytes.length, length: value.length });
  }

  /** Writes a blob once more, as it is stored; as `write`. */
  async copy(place: BlobPlace, owner: BlobOwner): Promise<BlobPlace> {
    const { head, body } = await readBlob(this, this.#env, { place, owner });
    const copied = await this.#append(owner, { bytes: body, stored: head.stored, length: head.length, checksums: head.checksums, codec: head.codec });
    this.counters.moved += copied.bytes;
    return copied;
  }

  async #append(owner: BlobOwner | undefined, body: { readonly bytes: Uint8Array; readonly stored: number; readonly length: number; readonly checksums: Uint32Array; readonly codec: number }): Promise<BlobPlace> {
    const key = owner?.key ?? noKey;
    const bytes = blobBytes(key.length, body.stored);
    const segment = await this.#room(owner === undefined ? segmentKinds.stamped : segmentKinds.keyed, bytes);
    const offset = segment.take(bytes);
    segment.pinned += bytes;
    this.#note(segment);
    const { length, stored, checksums, codec } = body;
    const head = encodeBlobHead({ segment: segment.number, offset, dictionary: owner?.dictionary ?? 0, key, length, stored, checksums, codec });
    try {
      await segment.write([head.bytes, body.bytes], offset, this.#env);
    } catch (error) {
      segment.pinned -= bytes;
      this.#note(segment);
      if (error instanceof EngineError && error.code === 'no-space') await this.#giveUp(segment, offset, bytes);
      throw error;
    }
    this.counters.written += bytes;
    return { segment: segment.number, offset, bytes, length, checksum: head.checksum };
  }

  /** A write found no space: what was begun of it goes, if it is the last of its segment, which takes no more from here on. */
  async #giveUp(segment: BlobSegment, offset: number, bytes: number): Promise<void> {
    if (this.#active.get(segment.kind) === segment) this.seal(segment.kind);
    if (segment.end !== offset + bytes || segment.writing > 0) return;
    segment.end = offset;
    await segment.cut(this.#env);
  }

  /** The segment of a kind that takes so many bytes; made if there is none. */
  async #room(kind: SegmentKind, bytes: number): Promise<BlobSegment> {
    for (;;) {
      const active = this.#active.get(kind);
      if (active !== undefined && (active.end + bytes <= this.#segmentBytes || active.end === segmentHeadBytes)) return active;
      let creating = this.#creating.get(kind);
      if (creating === undefined) {
        creating = this.#create(kind).finally(() => this.#creating.delete(kind));
        this.#creating.set(kind, creating);
      }
      await creating;
    }
  }

  async #create(kind: SegmentKind): Promise<void> {
    if (!this.#isMade) {
      await this.#env.files.makeDirectory(this.directory);
      await this.#env.files.syncDirectory(this.directory.slice(0, this.directory.lastIndexOf('/')) || '/');
      this.#isMade = true;
    }
    const segment = await BlobSegment.create(this.#env, this.directory, this.#next++, kind);
    this.seal(kind);
    this.#segments.set(segment.number, segment);
    this.#active.set(kind, segment);
    await this.#closeIdle();
  }

  /** The segment of a kind that takes blobs takes no more. */
  seal(kind: SegmentKind): void {
    const full = this.#active.get(kind);
    if (full !== undefined) full.isSealed = true;
    this.#active.delete(kind);
  }

  async #closeIdle(): Promise<void> {
    const open = [...this.#segments.values()].filter((segment) => segment.isOpen && segment.isIdle);
    for (const segment of open.slice(0, Math.max(0, open.length - openMax))) await segment.close();
  }

  /** Makes durable the blobs of these segments that were written before the call. A failure poisons. */
  async sync(segments: Iterable<number>): Promise<void> {
    const all = [...segments].map((number) => this.#segments.get(number)).filter((segment) => segment !== undefined);
    await Promise.all(all.map((segment) => segment.sync(this.#env)));
  }

  /** Counts what somebody refers to now, or (`sign` -1) no more. */
  count(tally: Tally, who: Referrer, sign: 1 | -1): void {
    for (const [number, bytes] of tally) {
      let segment = this.#segments.get(number);
      if (segment === undefined) {
        // Replay may name what has gone since: then it is dropped again before anybody can read it. Else it is damage, and whoever reads it hears so.
        segment = new BlobSegment(this.directory, { number, kind: segmentKinds.keyed, end: segmentHeadBytes, isSealed: true });
        this.#segments.set(number, segment);
      }
      segment[who] += sign * bytes;
      this.#note(segment);
    }
  }

  /** Segments that nothing refers to, and that no recovery needs that begins with the record `logFrom` and the trees as they are now. */
  removable(logFrom: number): readonly BlobSegment[] {
    return [...this.#segments.values()].filter((segment) => segment.isSealed && segment.isEmpty && (segment.emptySince ?? Infinity) < logFrom);
  }

  /** Whether there are any. */
  get isUsed(): boolean {
    return this.#segments.size > 0;
  }

  get segmentCount(): number {
    return this.#segments.size;
  }

  /**
   * Rows are being gathered that may refer to blobs which a merge makes plain values of meanwhile: what is not empty now stays until the function that is
   * given is called.
   */
  beginRead(): () => void {
    const read = { began: ++this.#ticks };
    this.#reads.add(read);
    return () => this.#reads.delete(read);
  }

  #isRead({ readers, emptyTick }: BlobSegment): boolean {
    return readers > 0 || [...this.#reads].some(({ began }) => began < emptyTick);
  }

  /** Whether a segment is only waited for: everything newest in it was moved. */
  get hasDrained(): boolean {
    return [...this.#segments.values()].some((segment) => segment.isDrained && !segment.isEmpty);
  }

  /** Segments that nothing refers to and that take no more: how many, and up to which record the log may name them. */
  get empty(): { readonly count: number; readonly since: number } {
    const empty = [...this.#segments.values()].filter((segment) => segment.isSealed && segment.isEmpty && !this.#isRead(segment));
    return { count: empty.length, since: empty.reduce((since, segment) => Math.max(since, segment.emptySince ?? 0), 0) };
  }

  /** Removes segments of `removable` that are still not wanted by anybody, when the checkpoint is durable. */
  async remove(segments: readonly BlobSegment[]): Promise<void> {
    for (const segment of segments) {
      if (!segment.isEmpty || this.#isRead(segment)) continue;
      this.#segments.delete(segment.number);
      await segment.close();
      if (await this.#env.files.exists(segment.path)) await this.#env.files.remove(segment.path);
      this.counters.removed += 1;
    }
  }

  /** Bytes of files, and of what in them nothing refers to. */
  get sizes(): { readonly files: number; readonly live: number; readonly garbage: number; readonly segments: number } {
    let [files, live, garbage] = [0, 0, 0];
    for (const segment of this.#segments.values()) {
      files += segment.end;
      live += segment.liveBytes;
      garbage += segment.isSealed && segment.isEmpty ? segment.end : segment.garbageBytes;
    }
    return { files, live, garbage, segments: this.#segments.size };
  }

  /** Whether a segment is so small that its blobs are better off in another. */
  isSmall(segment: BlobSegment): boolean {
    return segment.end < this.#segmentBytes * smallPart;
  }

  /** Bytes of a full segment. */
  get segmentBytes(): number {
    return this.#segmentBytes;
  }

  /** Closes all files; nobody reads or writes any more. */
  async close(): Promise<void> {
    for (const segment of this.#segments.values()) await segment.close();
  }
}

const noKey = new Uint8Array(0);

/** How long a segment is, and what it is for by its head; one whose head a crash took holds nothing that anybody refers to. A later version is `format`. */
async function probe(env: Env, { number, path }: Pick<BlobSegment, 'number' | 'path'>): Promise<{ readonly end: number; readonly kind: SegmentKind }> {
  const file = await env.files.open(path, 'read');
  try {
    const head = new Uint8Array(segmentHeadBytes);
    const length = await file.read(head, 0);
    return { end: await file.size(), kind: decodeSegmentHead(head.subarray(0, length), number) ?? segmentKinds.keyed };
  } finally {
    await file.close();
  }
}
