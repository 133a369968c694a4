// The simulated file system: SimDisk put into virtual time, with faults. What it does to a program:
//
// - Operations that are outstanding together complete in an order drawn from the seed, each after a delay of its own. A write takes its
//   bytes when it completes: a buffer that is changed too early shows.
// - A power failure keeps what was synced, and of everything else any part: writes lost, kept, torn at 512-byte sectors, sizes that do not
//   fit; names that were made, moved or removed without a directory sync, each on its own.
// - A failed write may have written any part. After a failed sync what it covered is lost or not, reads show it all the same, and a later
//   sync that succeeds does not bring it back.
// - A full disk refuses what takes space, after a part of a write. Any operation may fail once or from some moment on.
// - A byte may be read wrong once, or lie damaged on the disk.
//
// Half of the machines have a part of the reads in memory and can do them at once; half hold some reads while the rest of the machine goes on.
//
// It does not: lie about a successful sync, write to the wrong place, bring back old content of a sector that was synced since.

import { concatBytes } from '../../src/base/bytes.ts';
import { EngineError } from '../../src/base/errors.ts';
import {
  FileTree,
  closedError,
  lockedError,
  normalPath,
  pathError,
  readWholeFile,
  replaceWholeFile,
} from '../../src/env/index.ts';
import type { DirectoryLock, DiskSpace, File, FileSystem, OpenMode, OpenOptions } from '../../src/env/index.ts';
import type { SimClock } from './sim-clock.ts';
import type { SimDisk } from './sim-disk.ts';
import type { BegunWrite, NameChange } from './sim-disk.ts';
import { SimFaults } from './sim-faults.ts';
import type { Operation } from './sim-faults.ts';
import { SimInode } from './sim-inode.ts';
import type { SimRandom } from './sim-random.ts';
import type { SimTrace } from './sim-trace.ts';

/** What SimFiles is made of. */
export interface SimFilesParts {
  readonly disk: SimDisk;
  readonly clock: SimClock;
  readonly trace: SimTrace;
  readonly random: SimRandom;
  /** Space of the disk in bytes. */
  readonly capacityBytes: number;
}

/** One operation: what it does when it completes, what it leaves when it fails, and what a crash finds of it before. */
interface Action<T> {
  readonly kind: Operation;
  readonly path: string;
  readonly detail?: string;
  /** What it writes, for the trace; what it reads follows from that. */
  readonly data?: () => Uint8Array;
  /** Bytes by which it would grow the disk. */
  readonly grows?: () => number;
  /** Does it; what it throws is the operation's error. */
  readonly complete: () => T;
  /** Leaves what a failure leaves. */
  readonly fail?: () => void;
  /** The bytes it is about to write, as they are at the time of asking. */
  readonly write?: () => BegunWrite;
  readonly name?: NameChange;
}

/** Typical durations in milliseconds; one operation in `slowOdds` takes ten times as long. Each machine is faster or slower at each kind. */
const durationMs: Readonly<Record<Operation, number>> = {
  open: 0.05,
  create: 0.1,
  read: 0.2,
  write: 0.3,
  sync: 3,
  truncate: 0.2,
  rename: 0.2,
  remove: 0.2,
  makeDirectory: 0.2,
  syncDirectory: 3,
};
const slowOdds = 50;
const speeds = [0.05, 1, 1, 5];
/** Some machines hold a share of their reads for longer than most edits and checkpoints take. */
const heldShares = [0, 0, 0.02, 0.2];
const heldMs = 300;

/** Pid that a simulated process says it has. */
export const simPid = 4711;

function mapValues(table: Readonly<Record<Operation, number>>, change: (value: number) => number): Record<Operation, number> {
  return Object.fromEntries(Object.entries(table).map(([kind, value]) => [kind, change(value)])) as Record<Operation, number>;
}

/** The files of one simulated machine. */
export class SimFiles implements FileSystem {
  readonly faults: SimFaults = new SimFaults();
  readonly #parts: SimFilesParts;
  readonly #durationMs: Readonly<Record<Operation, number>>;
  readonly #outstanding = new Set<Action<unknown>>();
  readonly #locked = new Set<string>();
  readonly #flips: { path: string; offset: number; mask: number }[] = [];
  readonly #quickShare: number;
  readonly #held: SimRandom;
  readonly #heldShare: number;
  #capacityBytes: number;
  #operations = 0;
  #isOff = false;
  /** What an operation takes beyond its usual time: a disk that others use too. */
  slow: ((kind: Operation, path: string, timeMs: number) => number) | undefined;
  /** Called before each operation begins: a crash image of this moment may be taken here. */
  onOperation: ((kind: Operation, path: string) => void) | undefined;

  constructor(parts: SimFilesParts) {
    this.#parts = parts;
    this.#capacityBytes = parts.capacityBytes;
    const fastSlow = parts.random.fork('speeds');
    this.#quickShare = parts.random.fork('quick reads').pick([0, 0, 0.5, 0.9]);
    this.#held = parts.random.fork('held reads');
    this.#heldShare = this.#held.pick(heldShares);
    this.#durationMs = mapValues(durationMs, (ms) => ms * fastSlow.pick(speeds));
  }

  /** Operations begun so far. */
  get operations(): number {
    return this.#operations;
  }

  /** Whether the power is off: operations neither happen nor end. */
  get isOff(): boolean {
    return this.#isOff;
  }

  /** Turns the power off now. */
  turnOff(): void {
    this.#isOff = true;
    this.#parts.clock.stop();
  }

  /** The disk as the next start finds it: after a power failure, or after the end of the process alone. */
  afterCrash(kind: 'power' | 'process', random: SimRandom): SimDisk {
    const actions = [...this.#outstanding];
    const inFlight = {
      writes: actions.flatMap((action) => action.write?.() ?? []),
      names: actions.flatMap((action) => action.name ?? []),
    };
    const { disk } = this.#parts;
    return kind === 'power' ? disk.afterPowerLoss(inFlight, random) : disk.afterProcessEnd(inFlight, random);
  }

  /** Whether there is no space at all. */
  get isFull(): boolean {
    return this.#parts.disk.usedBytes() >= this.#capacityBytes;
  }

  /** Changes the size of the disk: smaller than what is used means full. */
  setCapacity(bytes: number): void {
    this.#capacityBytes = bytes;
  }

  /** Damages a byte where it lies. */
  corrupt(path: string, offset: number, mask: number): void {
    this.#inode(normalPath(path)).corrupt(offset, mask);
  }

  /** The next read that covers this byte shows it wrong, once. */
  flipOnRead(path: string, offset: number, mask: number): void {
    this.#flips.push({ path: normalPath(path), offset, mask });
  }

  async open(path: string, mode: OpenMode, options: OpenOptions = {}): Promise<File> {
    const name = normalPath(path);
    const { tree } = this.#parts.disk;
    const isNew = mode !== 'read' && tree.file(name) === undefined;
    const fresh = new SimInode();
    const file = (inode: SimInode): SimFile => new SimFile(this, { path, inode, writable: mode !== 'read', durable: options.durableWrites === true });
    if (!isNew) {
      return this.operate({
        kind: 'open',
        path,
        complete: () => {
          if (mode === 'create') throw pathError(path, 'exists already');
          return file(this.#inode(name));
        },
      });
    }
    const change: NameChange = { kind: 'link', path: name, inode: fresh };
    return this.operate({
      kind: 'create',
      path,
      name: change,
      complete: () => {
        const existing = tree.file(name);
        if (existing !== undefined && mode === 'create') throw pathError(path, 'exists already');
        if (existing !== undefined) return file(existing);
        this.#parts.disk.change(change);
        return file(fresh);
      },
    });
  }

  async makeDirectory(path: string): Promise<void> {
    for (const step of FileTree.ancestry(normalPath(path))) {
      if (this.#parts.disk.tree.isDirectory(step)) continue;
      await this.#rename('makeDirectory', { kind: 'directory', path: step });
    }
  }

  async list(path: string): Promise<string[]> {
    return this.operate({ kind: 'open', path, complete: () => this.#parts.disk.tree.list(normalPath(path)) });
  }

  async remove(path: string): Promise<void> {
    await this.#rename('remove', { kind: 'unlink', path: normalPath(path) });
  }

  async rename(from: string, to: string): Promise<void> {
    const [path, target] = [normalPath(from), normalPath(to)];
    const inode = this.#parts.disk.tree.file(path);
    if (inode === undefined) throw pathError(from, 'no such file');
    await this.#rename('rename', { kind: 'rename', path, to: target, inode });
  }

  async exists(path: string): Promise<boolean> {
    const name = normalPath(path);
    const { tree } = this.#parts.disk;
    return this.operate({ kind: 'open', path, complete: () => tree.isDirectory(name) || tree.file(name) !== undefined });
  }

  async syncDirectory(path: string): Promise<void> {
    const name = normalPath(path);
    const { disk } = this.#parts;
    const { mark } = disk;
    await this.operate({
      kind: 'syncDirectory',
      path,
      complete: () => {
        disk.tree.list(name);
        disk.syncDirectory(name, mark);
      },
    });
  }

  async readAll(path: string): Promise<Uint8Array> {
    return readWholeFile(this, path);
  }

  async writeWhole(path: string, content: Uint8Array): Promise<void> {
    return replaceWholeFile(this, path, content);
  }

  async space(path: string): Promise<DiskSpace> {
    if (!(await this.exists(path))) throw pathError(path, 'no such file or directory');
    return { freeBytes: Math.max(0, this.#capacityBytes - this.#parts.disk.usedBytes()), totalBytes: this.#capacityBytes };
  }

  async lockDirectory(path: string): Promise<DirectoryLock> {
    const name = normalPath(path);
    this.#parts.disk.tree.list(name);
    if (this.#locked.has(name)) throw lockedError(path, simPid);
    this.#locked.add(name);
    return { release: async () => void this.#locked.delete(name) };
  }

  /** Puts an operation into time: begun now, over after a delay, unless the power goes or a fault is due. For SimFile. */
  async operate<T>(action: Action<T>): Promise<T> {
    if (this.#isOff) return new Promise<T>(() => undefined);
    this.onOperation?.(action.kind, action.path);
    this.#operations++;
    const failure = this.faults.failureOf(action.kind, action.path);
    this.#outstanding.add(action);
    if (this.faults.crashesAt(action.kind)) this.turnOff();
    const { clock, random } = this.#parts;
    const slow = random.below(slowOdds) === 0 ? 10 : 1;
    const ms = this.#durationMs[action.kind] * slow * (0.2 + random.fraction()) + this.#heldFor(action.kind) + (this.slow?.(action.kind, action.path, clock.time) ?? 0);
    return new Promise<T>((resolve, reject) => {
      clock.after(ms, () => {
        this.#outstanding.delete(action);
        try {
          const result = this.#finish(action, failure);
          this.#note(action, 'done');
          resolve(result);
        } catch (error) {
          if (!(error instanceof EngineError)) throw error;
          this.#note(action, error.code);
          reject(error);
        }
      });
    });
  }

  /** Whether a read is done at once. A failure that is to come is left to those that wait. For SimFile. */
  readsNow(): boolean {
    return !this.#isOff && !this.faults.isPlanned && this.#quickShare > 0 && this.#parts.random.fraction() < this.#quickShare;
  }

  /** Fills `target` from the file, with the wrong bits that were asked for. For SimFile. */
  readInto(target: Uint8Array, inode: SimInode, place: { readonly path: string; readonly offset: number }): number {
    const length = inode.live.read(target, place.offset);
    const path = normalPath(place.path);
    for (const [index, flip] of this.#flips.entries()) {
      const at = flip.offset - place.offset;
      if (flip.path !== path || at < 0 || at >= length) continue;
      target[at] = (target[at] as number) ^ flip.mask;
      this.#flips.splice(index, 1);
      break;
    }
    return length;
  }

  /** Randomness for what a failure leaves. For SimFile. */
  get random(): SimRandom {
    return this.#parts.random;
  }

  #heldFor(kind: Operation): number {
    return kind === 'read' && this.#heldShare > 0 && this.#held.chance(this.#heldShare) ? this.#held.fraction() * heldMs : 0;
  }

  #finish<T>(action: Action<T>, failure: 'io' | 'no-space' | undefined): T {
    const grows = action.grows?.() ?? 0;
    const full = grows > 0 && this.#parts.disk.usedBytes() + grows > this.#capacityBytes;
    const code = failure ?? (full ? 'no-space' : undefined);
    if (code === undefined) return action.complete();
    this.faults.note(this.#parts.clock.time);
    action.fail?.();
    throw new EngineError(code, `${action.path}: simulated failure of ${action.kind}`, { place: { file: action.path } });
  }

  #note(action: Action<unknown>, outcome: string): void {
    const { clock, trace } = this.#parts;
    trace.add(`${clock.time.toFixed(6)} ${action.kind} ${action.path} ${action.detail ?? ''} ${outcome}`, action.data?.());
  }

  async #rename(kind: Operation, change: NameChange): Promise<void> {
    await this.operate({ kind, path: change.path, name: change, complete: () => this.#parts.disk.change(change) });
  }

  #inode(path: string): SimInode {
    const inode = this.#parts.disk.tree.file(path);
    if (inode === undefined) throw pathError(path, this.#parts.disk.tree.isDirectory(path) ? 'is a directory' : 'no such file or directory');
    return inode;
  }
}

/** What an open file is made of. */
interface SimFileParts {
  readonly path: string;
  readonly inode: SimInode;
  readonly writable: boolean;
  readonly durable: boolean;
}

class SimFile implements File {
  readonly path: string;
  readonly #files: SimFiles;
  readonly #parts: SimFileParts;
  #closed = false;

  constructor(files: SimFiles, parts: SimFileParts) {
    this.path = parts.path;
    this.#files = files;
    this.#parts = parts;
  }

  async read(target: Uint8Array, offset: number): Promise<number> {
    this.#check(false);
    const { inode, path } = this.#parts;
    return this.#files.operate({
      kind: 'read',
      path,
      detail: `${String(offset)}+${String(target.length)}`,
      complete: () => this.#files.readInto(target, inode, { path, offset }),
      fail: () => target.fill(0xdd),
    });
  }

  readNow(target: Uint8Array, offset: number): number | undefined {
    this.#check(false);
    if (!this.#files.readsNow()) return undefined;
    const { inode, path } = this.#parts;
    return this.#files.readInto(target, inode, { path, offset });
  }

  async write(source: Uint8Array, offset: number): Promise<void> {
    return this.writev([source], offset);
  }

  async writev(sources: readonly Uint8Array[], offset: number): Promise<void> {
    this.#check(true);
    const { inode, path, durable } = this.#parts;
    const { random } = this.#files;
    const gather = (): Uint8Array => (sources.length === 1 ? (sources[0] as Uint8Array) : concatBytes(sources));
    const { length } = gather();
    await this.#files.operate({
      kind: 'write',
      path,
      detail: `${String(offset)}+${String(length)}`,
      data: gather,
      write: () => ({ inode, source: gather(), offset }),
      grows: () => Math.max(0, offset + length - inode.live.size),
      complete: () => {
        inode.write(gather(), offset);
        if (durable) inode.sync(inode.mark);
      },
      fail: () => { inode.write(gather().subarray(0, random.below(length + 1)), offset); },
    });
  }

  async sync(): Promise<void> {
    this.#check(false);
    const { inode, path } = this.#parts;
    const { mark } = inode;
    await this.#files.operate({
      kind: 'sync',
      path,
      complete: () => { inode.sync(mark); },
      fail: () => { inode.failSync(mark, this.#files.random); },
    });
  }

  async size(): Promise<number> {
    this.#check(false);
    const { inode, path } = this.#parts;
    return this.#files.operate({ kind: 'open', path, complete: () => inode.live.size });
  }

  async truncate(size: number): Promise<void> {
    this.#check(true);
    const { inode, path } = this.#parts;
    await this.#files.operate({
      kind: 'truncate',
      path,
      detail: String(size),
      grows: () => Math.max(0, size - inode.live.size),
      complete: () => { inode.truncate(size); },
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #check(writes: boolean): void {
    if (this.#closed) throw closedError(this.path);
    if (writes && !this.#parts.writable) throw pathError(this.path, 'opened for reading only');
  }
}
