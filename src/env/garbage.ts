// Dead arrays, which V8 lets gather (docs/decisions/0005-room-for-garbage.md): it looks for them when so many small objects were made, or after some 64 MB
// outside the heap, and a server that passes megabytes from socket to file makes few small objects. So whoever moves bytes in and out says how many,
// and where the process holds more than it shall, the collector is told to look: at what is young, and when that gives little at everything. Both take
// a bounded part of the time, whatever is asked of the server. Off until a limit is set: a program that has a server in itself keeps its own ways.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';

/** V8's own call: with `minor` what is young, else everything. */
type Collect = (options?: { readonly type: 'minor' }) => void;

/** Bytes passed between two looks, at least: to look is to read a file of the system. */
const lookBytes = 4 * 1024 * 1024;
/** Where there is room, this part of it may pass before the next. */
const roomPart = 1 / 4;
/** Arrays held above what was left after the last look at everything, before the next. */
const gainBytesMin = 12 * 1024 * 1024;
/** For each millisecond of collecting so many pass before the next: none where the process holds much more than it shall, or is about to. */
const restFactor = 8;
const hurryFactor = 0;
const hurryBytes = 30 * 1024 * 1024;
/**
 * An array of so many bytes that is never written to takes no memory, and makes V8 begin a full collection of its own. The collection that is commanded drops
 * all compiled code that knows a shape of which no object lives at that moment: a load spent a quarter of its time on compiling again and on what ran
 * uncompiled meanwhile.
 */
const askBytes = 64 * 1024 * 1024;
/** Between two such collections. */
const askRestMs = 250;
/** What the heap of objects may grow by before V8 looks at everything: arrays from sockets count too, so a share of a small heap would be very little. */
const heapRoomBytes = 20 * 1024 * 1024;
const growingPercent = { least: 30, most: 100, step: 10 };

/** Watches one process. */
class GarbageWatch {
  readonly #residentMax: number;
  readonly #collect: Collect;
  #passed = 0;
  #nextLook = lookBytes;
  /** Arrays that are known to live: what was left after everything was looked at, or less since. */
  #living = 0;
  /** When the last looks ended, and how long they took. */
  #minorEnd = 0;
  #minorMs = 0;
  #majorEnd = 0;
  #majorMs = 0;
  #askedMs = 0;
  /** All that was asked with, which keeps the arrays from being left out by the compiler. */
  #asked = 0;
  #percent = growingPercent.most;

  constructor(residentMax: number, collect: Collect) {
    this.#residentMax = residentMax;
    this.#collect = collect;
  }

  pass(bytes: number): void {
    this.#passed += bytes;
    if (this.#passed < this.#nextLook && bytes < lookBytes) return;
    this.#passed = 0;
    this.#keepRoom();
    // Memory that was just made to be read into is not resident yet.
    const beyond = process.memoryUsage.rss() + bytes - this.#residentMax;
    this.#nextLook = Math.max(lookBytes, -beyond * roomPart);
    if (beyond > 0) this.#look(beyond > hurryBytes || bytes >= lookBytes ? hurryFactor : restFactor);
  }

  /** States the room of the heap as V8 wants it: in percent of what lives. */
  #keepRoom(): void {
    const { least, most, step } = growingPercent;
    const percent = Math.min(most, Math.max(least, Math.round((heapRoomBytes * 100) / getHeapStatistics().used_heap_size / step) * step));
    if (percent === this.#percent) return;
    this.#percent = percent;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  }

  #look(rest: number): void {
    const startMs = performance.now();
    if (startMs - this.#minorEnd >= rest * this.#minorMs) {
      this.#collect({ type: 'minor' });
      this.#minorEnd = performance.now();
      this.#minorMs = this.#minorEnd - startMs;
    }
    const { arrayBuffers } = process.memoryUsage();
    this.#living = Math.min(this.#living, arrayBuffers);
    if (arrayBuffers - this.#living < gainBytesMin) return;
    const majorMs = performance.now();
    if (rest > hurryFactor) {
      if (majorMs - this.#askedMs >= askRestMs) this.#ask(arrayBuffers);
      return;
    }
    if (majorMs - this.#majorEnd < rest * this.#majorMs) return;
    this.#collect();
    this.#majorEnd = performance.now();
    this.#majorMs = this.#majorEnd - majorMs;
    this.#living = process.memoryUsage().arrayBuffers;
  }

  /** Has V8 look at everything in its own way, beside the program, as it does when arrays have come to so much. */
  #ask(arrayBuffers: number): void {
    this.#living = arrayBuffers;
    this.#asked += new ArrayBuffer(askBytes).byteLength;
    this.#askedMs = performance.now();
  }
}

/** How many times its first size the nursery is; and what must outlive a look for V8 to let it grow, in arrays of four KiB. */
const nurseryFactor = 4;
const survivorsMin = 320;

/**
 * Makes the nursery larger, once: V8 does so when as much as it holds has outlived it, by a factor that is 1 before and after. With 1 MB each thirty writes
 * of one document had it looked through, which took a fifth of their time.
 */
function growNursery(collect: Collect): void {
  setFlagsFromString(`--semi-space-growth-factor=${nurseryFactor}`);
  const survivors = Array.from({ length: survivorsMin }, () => new Array<number>(512).fill(0));
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  survivors.length = 0;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** A port whose other end is closed: what is sent there is gone. */
const nowhere = openNowhere();

function openNowhere(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.close();
  port2.unref();
  return port2;
}

/**
 * Gives the memory of an array back at once, where the array has all of it: nobody has another view of it, and it is empty from now on. Megabytes that come
 * from a socket are otherwise garbage for which V8 looks at everything, each twenty of them anew, which takes as long as everything else that is done with them.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < worthBytes || buffer.byteLength !== byteLength || !(buffer instanceof ArrayBuffer)) return;
  nowhere.postMessage(undefined, [buffer]);
}

/** Smaller arrays cost less to leave. */
const worthBytes = 16 * 1024;

let watch: GarbageWatch | undefined;

/** From now on garbage is looked for when the process is resident with more bytes than this. */
export function watchGarbage(residentMax: number): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // eslint-disable-next-line frond/no-unsafe-assertion -- V8's own function, if it is there
  const call = typeof collect === 'function' ? (collect as Collect) : undefined;
  if (call === undefined) return;
  watch = new GarbageWatch(residentMax, call);
  growNursery(call);
}

/** So many bytes came in or went out in arrays that are soon dead. */
export function bytesPassed(bytes: number): void {
  watch?.pass(bytes);
}
