// Extents: how messages lie on disk, whether a buffered run or a leaf. An extent is basements one after the other, each one run of about
// `readPageBytes`, compressed and checksummed alone so that it can be read alone, then filters, each for some basements, and the fences that
// describe them all. Invariants: versions of one key share a basement unless they alone exceed two; then the following basements `continue`. A
// large value has a basement of its own. A filter that there is knows every key of its basements.

import { assert } from '../../base/assert.ts';
import { equalBytes } from '../../base/bytes.ts';
import { crc32c } from '../../base/crc32c.ts';
import { EngineError } from '../../base/errors.ts';
import { keyHash } from '../../base/hash.ts';
import type { Codec, Codecs } from '../../env/index.ts';
import { BlobCounter } from './blob-reference.ts';
import { Fences } from './fences.ts';
import type { FenceRow, FilterRow } from './fences.ts';
import { Filter, FilterBuilder, filterKeys } from './filter.ts';
import { messageKinds } from './message.ts';
import type { MessageSlice } from './message.ts';
import { freshMemory } from './run.ts';
import type { MemorySource, Run } from './run.ts';
import { RunBuilder } from './run-builder.ts';
import type { MessageSink } from './run-builder.ts';
import { decodeRun, encodedRunLengthMax, encodeRun } from './run-format.ts';

/** Memory for payloads of usual size, used for every one: the code that fills it is synchronous. */
const scratchBytes = 256 * 1024;
const scratch = new Uint8Array(scratchBytes);

function payloadSpace(length: number): Uint8Array {
  return length <= scratchBytes ? scratch : new Uint8Array(length);
}

/** Bytes that a message adds to a basement beside its key and value, roughly. */
const messageOverhead = 4;

/** The memory that a builder fills. Builders come and go with each extent, and what they would leave to the collector is megabytes. */
class Workspace {
  readonly basement = new RunBuilder(512, 32 * 1024);
  readonly filter = new FilterBuilder();
  image = new Uint8Array(256 * 1024);
  /** The filters of the extent so far: they go behind its basements. */
  filters = new Uint8Array(16 * 1024);

  /** A spare one, or a new one. */
  static take(): Workspace {
    return spares.pop() ?? new Workspace();
  }

  /** Keeps this one for the next builder, unless a large value has made it large or enough are kept. */
  giveBack(): void {
    this.basement.clear();
    this.filter.clear();
    if (this.image.length <= spareBytesMax && this.basement.capacityBytes <= spareBytesMax && spares.length < sparesMax) spares.push(this);
  }
}

const sparesMax = 2;
const spareBytesMax = 2 * 1024 * 1024;
const spares: Workspace[] = [];

/** An extent below this part of `readPageBytes` has no filter: reading it costs what reading a filter costs. */
const unfilteredPart = 1 / 4;

const freshBytes = (bytes: number): Uint8Array => new Uint8Array(bytes);

/** What is left of a payload when compressing it was worth while: less gained would cost every reader more than it saves. */
const worthPart = 15 / 16;
/** After two basements in a row that were not worth compressing it is tried less and less often, at least for one in so many. */
const untriedMax = 8;

/** Payloads of at least so many bytes are sampled before they are compressed: they are one large value, mostly. */
const sampledBytesMin = 96 * 1024;
const sampleBytes = 4096;
/** A sample that does not get smaller than this part of itself does not shrink. */
const sampleShrinks = 0.95;

/** Messages in, image and fences out. */
export class ExtentBuilder implements MessageSink {
  readonly #codec: Codec;
  readonly #readPageBytes: number;
  /** From the first message until `finish`. */
  #workspace: Workspace | undefined;
  #rows: FenceRow[] = [];
  #filterRows: FilterRow[] = [];
  #filtersLength = 0;
  #imageLength = 0;
  #closedRaw = 0;
  #closedCount = 0;
  #continues = false;
  readonly #blobs = new BlobCounter();
  /** Basements in a row that did not get much smaller, and how many of the next ones are not tried for that. */
  #incompressible = 0;
  #untried = 0;
  #minSeq = Number.MAX_SAFE_INTEGER;
  #maxSeq = 0;

  constructor(codec: Codec, readPageBytes: number) {
    this.#codec = codec;
    this.#readPageBytes = readPageBytes;
  }

  /** Bytes of keys and values taken so far. */
  get rawBytes(): number {
    return this.#closedRaw + (this.#workspace?.basement.rawBytes ?? 0);
  }

  /** Messages taken so far. */
  get count(): number {
    return this.#closedCount + (this.#workspace?.basement.count ?? 0);
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  append(source: Run, index: number, seq: number): void {
    const { basement, filter } = this.#open();
    const needed = basement.rawBytes + source.size(index) + (basement.count + 1) * messageOverhead;
    if (needed > this.#readPageBytes && basement.count > 0) this.#cut(needed, basement.endsWithKey(source, index));
    basement.append(source, index, seq);
    if (source.kinds[index] === messageKinds.reference) this.#blobs.add(source.values, source.valueOffsets[index] as number, source.valueOffsets[index + 1] as number);
    filter.add(keyHash(source.keys, source.keyOffsets[index] as number, source.keyOffsets[index + 1] as number));
    this.#note(seq);
  }

  /** As `append`, for a message in an arena, with its hash. Versions of one key come one after the other. */
  appendSlice(slice: MessageSlice): void {
    const { basement, filter } = this.#open();
    const size = slice.keyEnd - slice.keyStart + slice.valueEnd - slice.valueStart;
    const needed = basement.rawBytes + size + (basement.count + 1) * messageOverhead;
    if (needed > this.#readPageBytes && basement.count > 0) this.#cut(needed, basement.endsWithSlice(slice));
    basement.appendSlice(slice);
    if (slice.kind === messageKinds.reference) this.#blobs.add(slice.bytes, slice.valueStart, slice.valueEnd);
    filter.add(slice.hash);
    this.#note(slice.seq);
  }

  /** The extent of all messages so far, which are not none; the image is a copy in memory that `allocate` gives, and the builder is empty afterwards. */
  finish(allocate: (bytes: number) => Uint8Array = freshBytes): { image: Uint8Array; fences: Fences } {
    assert(!this.isEmpty, 'an extent holds a message');
    const workspace = this.#open();
    const { keys, keyOffsets, count } = workspace.basement;
    const lastKey = keys.slice(keyOffsets[count - 1], keyOffsets[count]);
    this.#closeBasement();
    if (workspace.filter.count > 0 && (this.#filterRows.length > 0 || this.#closedRaw >= this.#readPageBytes * unfilteredPart)) this.#closeFilter();
    const image = allocate(this.#imageLength + this.#filtersLength);
    image.set(workspace.image.subarray(0, this.#imageLength));
    image.set(workspace.filters.subarray(0, this.#filtersLength), this.#imageLength);
    const summary = { codec: this.#codec.id, minSeq: this.#minSeq, maxSeq: this.#maxSeq, lastKey, blobs: this.#blobs.take() };
    const fences = Fences.of(summary, this.#rows, this.#filterRows);
    this.#reset();
    workspace.giveBack();
    return { image, fences };
  }

  #note(seq: number): void {
    if (seq < this.#minSeq) this.#minSeq = seq;
    if (seq > this.#maxSeq) this.#maxSeq = seq;
  }

  /** Ends the basement before a message that makes it too long, if the key may change there. */
  #cut(needed: number, sameKey: boolean): void {
    if (sameKey && needed <= 2 * this.#readPageBytes) return;
    this.#closeBasement();
    this.#continues = sameKey;
  }

  #open(): Workspace {
    this.#workspace ??= Workspace.take();
    return this.#workspace;
  }

  #closeBasement(): void {
    const { basement } = this.#open();
    const payload = payloadSpace(encodedRunLengthMax(basement));
    const rawLength = encodeRun(basement, payload, 0);
    const at = this.#imageLength;
    const { storedLength, plain } = this.#store(payload.subarray(0, rawLength));
    this.#rows.push({
      storedLength,
      rawLength,
      checksum: crc32c(this.#open().image, at, at + storedLength),
      rows: basement.count,
      firstKey: basement.keys.slice(0, basement.keyOffsets[1]),
      continues: this.#continues,
      plain,
    });
    this.#imageLength = at + storedLength;
    this.#closedRaw += basement.rawBytes;
    this.#closedCount += basement.count;
    this.#continues = false;
    basement.clear();
    if (this.#open().filter.count >= filterKeys) this.#closeFilter();
  }

  /** Ends the filter of the basements since the one before. */
  #closeFilter(): void {
    const workspace = this.#open();
    const { filter } = workspace;
    const at = this.#filtersLength;
    if (at + filter.lengthMax > workspace.filters.length) {
      const longer = new Uint8Array(Math.max(2 * workspace.filters.length, at + filter.lengthMax));
      longer.set(workspace.filters.subarray(0, at));
      workspace.filters = longer;
    }
    const length = filter.finish(workspace.filters, at);
    const covered = this.#filterRows.reduce((sum, row) => sum + row.basements, 0);
    const checksum = crc32c(workspace.filters, at, at + length);
    this.#filterRows.push({ basements: this.#rows.length - covered, length, checksum });
    this.#filtersLength = at + length;
  }

  #store(payload: Uint8Array): { storedLength: number; plain: boolean } {
    const at = this.#imageLength;
    const room = Math.max(this.#codec.maxCompressedLength(payload.length), payload.length);
    const image = this.#imageWithRoom(at + room);
    const compressed = this.#isTried() && this.#shrinks(payload, image.subarray(at)) ? this.#codec.compress(payload, image.subarray(at)) : payload.length;
    if (compressed < payload.length * worthPart) {
      this.#incompressible = 0;
      this.#untried = 0;
      return { storedLength: compressed, plain: false };
    }
    image.set(payload, at);
    return { storedLength: payload.length, plain: true };
  }

  /** Whether the next basement is to be compressed, as far as those before it tell: neighbours are alike, and random keys never shrink. */
  #isTried(): boolean {
    if (this.#untried > 0) {
      this.#untried -= 1;
      return false;
    }
    this.#incompressible += 1;
    if (this.#incompressible > 2) this.#untried = Math.min(untriedMax, 2 ** (this.#incompressible - 2));
    return true;
  }

  /** Whether compressing is worth trying: a large payload of which no sample shrinks is a film or a picture. `target`: memory to try in. */
  #shrinks(payload: Uint8Array, target: Uint8Array): boolean {
    if (payload.length < sampledBytesMin) return true;
    return [1, 2, 3].some((quarter) => {
      const from = (payload.length >> 2) * quarter;
      return this.#codec.compress(payload.subarray(from, from + sampleBytes), target) < sampleBytes * sampleShrinks;
    });
  }

  #imageWithRoom(length: number): Uint8Array {
    const workspace = this.#open();
    if (length > workspace.image.length) {
      const larger = new Uint8Array(Math.max(length, workspace.image.length * 2));
      larger.set(workspace.image.subarray(0, this.#imageLength));
      workspace.image = larger;
    }
    return workspace.image;
  }

  #reset(): void {
    this.#workspace = undefined;
    this.#rows = [];
    this.#filterRows = [];
    this.#filtersLength = 0;
    this.#imageLength = 0;
    this.#closedRaw = 0;
    this.#closedCount = 0;
    this.#incompressible = 0;
    this.#untried = 0;
    this.#minSeq = Number.MAX_SAFE_INTEGER;
    this.#maxSeq = 0;
  }
}

/**
 * The run in basement `index` of an extent; `stored` is exactly its part of the image. Wrong length, checksum, rows or first key is
 * EngineError `corruption`, to which the caller adds the place; an unknown codec or kind is `format`.
 */
export function decodeBasement(stored: Uint8Array, fences: Fences, index: number, codecs: Codecs): Run {
  return decodeBasementInto(stored, { fences, index }, codecs, freshMemory);
}

/** As `decodeBasement`, in memory of `source`. */
export function decodeBasementInto(stored: Uint8Array, { fences, index }: { readonly fences: Fences; readonly index: number }, codecs: Codecs, source: MemorySource): Run {
  if (stored.length !== fences.storedLength(index)) throw damaged(`${String(stored.length)} bytes of ${String(fences.storedLength(index))}`);
  if (crc32c(stored) !== fences.checksum(index)) throw damaged('the checksum does not match');
  const run = fences.isPlain(index) ? decodeRun(stored, 0, stored.length, source) : decodeRun(...decompressed(stored, fences, index, codecs), source);
  if (run.count !== fences.rows(index)) throw damaged(`${String(run.count)} messages of ${String(fences.rows(index))}`);
  if (!equalBytes(run.key(0), fences.firstKey(index))) throw damaged('the first key is another');
  return run;
}

/** Filter `index` of an extent; `stored` is exactly its part of the image. Wrong length, checksum or form is EngineError `corruption`. */
export function decodeFilter(stored: Uint8Array, fences: Fences, index: number): Filter {
  if (stored.length !== fences.filterLength(index)) throw damaged(`${String(stored.length)} bytes of ${String(fences.filterLength(index))} of a filter`);
  if (crc32c(stored) !== fences.filterChecksum(index)) throw damaged('the checksum of a filter does not match');
  return new Filter(stored);
}

function decompressed(stored: Uint8Array, fences: Fences, index: number, codecs: Codecs): [Uint8Array, number, number] {
  const length = fences.rawLength(index);
  const payload = payloadSpace(length);
  codecs.byId(fences.codec).decompress(stored, payload.subarray(0, length));
  return [payload, 0, length];
}

function damaged(what: string): EngineError {
  return new EngineError('corruption', `damaged basement: ${what}`);
}
