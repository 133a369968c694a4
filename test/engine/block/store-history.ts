// A random history of one block store under simulation, and the model that says what each checkpoint must give back. Edits, reads and
// checkpoints overlap as they do in life. After a crash `recovered` opens what is left and compares; then the history goes on from there.

import assert from 'node:assert/strict';
import { equalBytes } from '../../../src/base/bytes.ts';
import { EngineError } from '../../../src/base/errors.ts';
import type { BlockNumber, CheckpointRoot } from '../../../src/engine/block/block-number.ts';
import type { BlockStore } from '../../../src/engine/block/block-store.ts';
import { SimRandom } from '../../sim/sim-random.ts';
import type { SimEnv } from '../../sim/sim-env.ts';

export const path = '/data.frond';

/** The real class, or one with a break planted in it. */
export type StoreClass = Pick<typeof BlockStore, 'create' | 'open'>;

/** What a checkpoint has: seed and length of each data block, version of each meta block. */
interface State {
  readonly data: ReadonlyMap<number, { seed: number; length: number }>;
  readonly meta: ReadonlyMap<number, number>;
}

const empty: State = { data: new Map(), meta: new Map() };

/** What may be found after a crash: states by the number of their checkpoint. */
export interface Expectation {
  /** Whether `create` had answered. */
  readonly created: boolean;
  /** The newest checkpoint that was answered, and the one that was under way. */
  readonly durable: number;
  readonly begun: number;
  readonly states: readonly State[];
}

/** Bytes that follow from two numbers, of a length that follows from them too. */
function content(seed: number, version: number, lengthMax: number): Uint8Array {
  const random = new SimRandom(seed * 1000 + version);
  const bytes = new Uint8Array(1 + random.below(lengthMax));
  const word = random.uint32();
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.imul(word, i + 1) >>> 11;
  return bytes;
}

const dataLengthMax = 40_000;
const metaLengthMax = 9000;

const dataContent = (seed: number): Uint8Array => content(seed, 0, dataLengthMax);
const metaContent = (number: number, version: number): Uint8Array => content(number, version + 1, metaLengthMax);

/** One store, what it must hold, and random steps. */
export class StoreHistory {
  readonly #random: SimRandom;
  readonly #states: State[] = [empty];
  readonly #data = new Map<number, { seed: number; length: number }>();
  readonly #meta = new Map<number, number>();
  /** Meta blocks whose newest version was not given to the store, and those that are being written. */
  readonly #dirty = new Set<number>();
  readonly #writing = new Set<number>();
  #store: BlockStore | undefined;
  #created = false;
  #durable = 0;
  #begun = 0;
  #seeds: number;
  #checkpoint: Promise<void> | undefined;
  readonly #reads = new Set<Promise<void>>();
  #moves = 0;

  constructor(seed: number) {
    this.#random = new SimRandom(seed).fork('history');
    this.#seeds = seed * 1_000_003;
  }

  get expectation(): Expectation {
    return { created: this.#created, durable: this.#durable, begun: this.#begun, states: [...this.#states] };
  }

  async create(env: SimEnv, Store: StoreClass): Promise<void> {
    this.#store = await Store.create(env, path);
    this.#created = true;
  }

  /** Opens what a crash left, checks it, and goes on from it. */
  async recover(env: SimEnv, Store: StoreClass, expected: Expectation): Promise<void> {
    if (!expected.created && !(await env.files.exists(path))) {
      await this.create(env, Store);
      return;
    }
    const { store, root } = await Store.open(env, path);
    this.#store = store;
    this.#created = true;
    const found = root?.nextSeq ?? 0;
    assert.ok(found === expected.durable || found === expected.begun, `checkpoint ${found} of ${expected.durable} or ${expected.begun}`);
    const state = expected.states[found]!;
    this.#states.splice(0, Infinity, ...expected.states.slice(0, found + 1));
    this.#durable = this.#begun = found;
    for (const [number, made] of state.data) this.#data.set(number, made);
    for (const [number, version] of state.meta) this.#meta.set(number, version);
    await this.checkAll();
  }

  /** Everything that the model has is there, nothing else is, and verify finds nothing. */
  async checkAll(): Promise<void> {
    const store = this.#store!;
    assert.equal(store.statistics.blocks, this.#data.size + this.#meta.size - [...this.#dirty].filter((number) => !this.#written(number)).length);
    for (const number of this.#data.keys()) await this.#readData(number);
    for (const number of this.#meta.keys()) if (this.#readable(number)) await this.#readMeta(number);
    for await (const problem of store.verify()) assert.fail(JSON.stringify(problem));
  }

  /** So many random steps, checkpoints beside them; waits for everything at the end. */
  async run(steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) await this.#step();
    await this.#checkpoint;
    await Promise.all(this.#reads);
  }

  /** As `run`, with `verify` running all the time: it finds nothing. */
  async runVerified(steps: number): Promise<void> {
    const work = { isOver: false };
    const verifying = (async (): Promise<number> => {
      let rounds = 0;
      for (; !work.isOver; rounds++) for await (const problem of this.#store!.verify()) assert.fail(JSON.stringify(problem));
      return rounds;
    })();
    await this.run(steps);
    work.isOver = true;
    assert.ok((await verifying) > 1);
  }

  /** Leaves a file with much room between its blocks, then moves them down beside other steps and a checkpoint. */
  async moveIntoGaps(): Promise<void> {
    for (let i = 0; i < 30; i++) await this.#addData(3);
    await this.checkpoint();
    for (const number of [...this.#data.keys()]) if (this.#random.chance(0.8)) this.#drop(number);
    await this.checkpoint();
    for (let i = 0; i < 12; i++) {
      await this.#moveDown();
      if (i % 3 === 0) await this.#step();
    }
    await this.#checkpoint;
    await this.#moveDown();
    for (let i = 0; i < 25; i++) await this.#addData(3);
    await this.checkpoint();
    await Promise.all(this.#reads);
  }

  /** A checkpoint, after the one that may be under way. */
  async checkpoint(): Promise<void> {
    await this.#checkpoint;
    await this.#runCheckpoint();
  }

  /** Blocks that were moved down. */
  get moves(): number {
    return this.#moves;
  }

  /** One more write, which is not part of the history. */
  async write(): Promise<void> {
    await this.#store!.writeData(new Uint8Array(1));
  }

  /** As `run`, on a disk that may be full: how often it was. */
  async runWithFullDisk(steps: number): Promise<number> {
    let full = 0;
    const note = (error: unknown): void => {
      if (!(error instanceof EngineError && error.code === 'no-space')) throw error;
      full++;
    };
    for (let i = 0; i < steps; i++) {
      await this.#step().catch(note);
      await this.#checkpoint?.catch(note);
    }
    await Promise.all(this.#reads);
    return full;
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const choice = random.below(11);
    if (choice < 4) await this.#addData(1 + random.below(3));
    else if (choice < 6) this.#dropSome();
    else if (choice < 7) this.#changeMeta();
    else if (choice < 8) this.#startRead(this.#pickReadable());
    else if (choice < 9) await this.#moveDown();
    else if (this.#checkpoint === undefined) this.#startCheckpoint();
    else if (random.chance(0.5)) await this.#checkpoint;
  }

  /** Begins a checkpoint beside what follows; its failure is seen by whoever waits for it. */
  #startCheckpoint(): void {
    const checkpoint = this.#runCheckpoint().finally(() => (this.#checkpoint = undefined));
    checkpoint.catch(() => undefined);
    this.#checkpoint = checkpoint;
  }

  async #addData(count: number): Promise<void> {
    const store = this.#store!;
    const images = Array.from({ length: count }, () => {
      const seed = this.#seeds++;
      return { seed, image: dataContent(seed) };
    });
    const results = await Promise.allSettled(images.map(async ({ image }) => store.writeData(image)));
    results.forEach((result, i) => {
      if (result.status === 'rejected') return;
      const number = result.value;
      const { seed, image } = images[i]!;
      if (this.#random.chance(0.15)) store.abandon(number);
      else {
        store.adopt(number);
        this.#data.set(number, { seed, length: image.length });
      }
    });
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #dropSome(): void {
    const numbers = [...this.#data.keys()];
    const count = this.#random.chance(0.15) ? Math.floor(numbers.length * 0.7) : this.#random.below(3);
    for (let i = count; i > 0 && numbers.length > 0; i--) {
      const [number] = numbers.splice(this.#random.below(numbers.length), 1);
      if (this.#random.chance(0.4)) this.#startRead(number);
      this.#drop(number!);
    }
  }

  #drop(number: number): void {
    this.#data.delete(number);
    this.#store!.drop(number as BlockNumber);
  }

  #changeMeta(): void {
    const numbers = [...this.#meta.keys()];
    const which = this.#random.below(numbers.length + 2);
    const number = numbers[which];
    if (number === undefined) {
      const fresh = this.#store!.reserveNumber();
      this.#meta.set(fresh, 0);
      this.#dirty.add(fresh);
    } else if (this.#random.chance(0.25) && numbers.length > 1) {
      this.#meta.delete(number);
      this.#dirty.delete(number);
      this.#store!.drop(number as BlockNumber);
    } else {
      this.#meta.set(number, this.#meta.get(number)! + 1);
      this.#dirty.add(number);
    }
  }

  /** A few moves, begun and left to run beside what follows. */
  async #moveDown(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      const move = this.#store!.moveDown().then((moved) => {
        if (moved) this.#moves++;
        return moved;
      });
      if (this.#random.chance(0.5)) {
        this.#follow(move.then(() => undefined));
        return;
      }
      if (!(await move)) return;
    }
  }

  #follow(work: Promise<void>): void {
    this.#reads.add(work);
    void work.then(() => this.#reads.delete(work), () => undefined);
  }

  #pickReadable(): number | undefined {
    const meta = [...this.#meta.keys()].filter((number) => this.#readable(number));
    return this.#random.pick([...this.#data.keys(), ...meta, undefined]);
  }

  /** A read that goes on while other things happen, also to its block. */
  #startRead(number: number | undefined): void {
    if (number === undefined) return;
    const read = this.#data.has(number) ? this.#readData(number) : this.#readMeta(number);
    this.#follow(read);
  }

  async #readData(number: number): Promise<void> {
    const { seed, length } = this.#data.get(number)!;
    const from = this.#random.below(length);
    const part = this.#random.below(length - from + 1);
    const bytes = await this.#store!.readData(number as BlockNumber, from, part);
    assert.ok(equalBytes(bytes, dataContent(seed).subarray(from, from + part)), `data block ${number} is not what was written`);
  }

  async #readMeta(number: number): Promise<void> {
    const version = this.#meta.get(number)!;
    const bytes = await this.#store!.readMeta(number as BlockNumber);
    assert.ok(equalBytes(bytes, metaContent(number, version)), `meta block ${number} is not what was written`);
  }

  /** Whether a version of a meta block was ever given to the store. */
  #written(number: number): boolean {
    return this.#store!.placeOf(number as BlockNumber) !== undefined;
  }

  /** Whether the store has the newest version of a meta block. */
  #readable(number: number): boolean {
    return this.#written(number) && !this.#dirty.has(number) && !this.#writing.has(number);
  }

  async #runCheckpoint(): Promise<void> {
    const store = this.#store!;
    if (this.#meta.size === 0) {
      const fresh = store.reserveNumber();
      this.#meta.set(fresh, 0);
      this.#dirty.add(fresh);
    }
    store.beginCheckpoint();
    const state: State = { data: new Map(this.#data), meta: new Map(this.#meta) };
    try {
      await this.#writeCaptured(state);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'no-space')) throw error;
      store.cancelCheckpoint();
      if (this.#begun > this.#durable) this.#begun = this.#durable;
      throw error;
    }
  }

  async #writeCaptured(state: State): Promise<void> {
    const store = this.#store!;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    for (const number of dirty) this.#writing.add(number);
    try {
      for (const number of dirty) {
        await store.writeMeta(number as BlockNumber, metaContent(number, state.meta.get(number)!));
        this.#writing.delete(number);
      }
    } finally {
      for (const number of this.#writing) if (this.#meta.has(number)) this.#dirty.add(number);
      this.#writing.clear();
    }
    const id = this.#states.length;
    this.#states.push(state);
    this.#begun = id;
    const root: CheckpointRoot = {
      dictionaryTable: [...state.meta.keys()][0] as BlockNumber,
      nextSeq: id,
      nextDictionary: id + 1,
      logFrom: { segment: id, seq: id },
    };
    await store.publish(root);
    this.#durable = id;
  }
}
