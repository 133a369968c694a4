// An Environment without disk, log or tree: every version of every key in plain arrays. It keeps the same contracts as the engine in the
// most obvious way, so it is the model that property tests compare the engine with, and a fast stand-in for layers above the engine.

import { compareBytes } from '../../src/base/bytes.ts';
import { must } from '../../src/base/assert.ts';
import { EngineError } from '../../src/base/errors.ts';
import type {
  BytesPart, Cursor, DictionaryId, DictionaryStatistics, Direction, EngineStatistics, Environment, KeyRange, Load, Seq, Soon, Totals,
  Transaction, TransactionMode, ValuePart, VerifyReport,
} from '../../src/engine/index.ts';
import { ModelCursor } from './model-cursor.ts';
import { coversKey, coveringSeq, ModelDictionary } from './model-dictionary.ts';
import type { RangeDelete } from './model-dictionary.ts';
import { updateTable } from './update-functions.ts';

interface OwnWrite {
  readonly order: number;
  readonly id: DictionaryId;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

interface OwnRange {
  readonly order: number;
  readonly id: DictionaryId;
  readonly range: RangeDelete;
}

interface Lock {
  owner: ModelTransaction;
  readonly waiters: { readonly transaction: ModelTransaction; readonly grant: () => void; readonly refuse: (error: Error) => void }[];
}

const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex');

/** The model of an environment. Nothing outlives it. */
export class ModelEnvironment implements Environment {
  readonly catalogDictionary: DictionaryId = 1 as DictionaryId;
  readonly fatal: Promise<Error> = new Promise<Error>(() => undefined);
  readonly dictionaries: Map<DictionaryId, ModelDictionary> = new Map([[1 as DictionaryId, new ModelDictionary(0)]]);
  readonly locks: Map<string, Lock> = new Map();
  readonly waitsFor: Map<ModelTransaction, ModelTransaction> = new Map();
  newest: number = 0;
  nextDictionary: number = 2;
  open: number = 0;
  commits: number = 0;
  readonly transactions: Set<ModelTransaction> = new Set();

  get visible(): Seq {
    return this.newest as Seq;
  }

  begin(mode: TransactionMode, from?: Transaction): Transaction {
    this.open += 1;
    const transaction = new ModelTransaction(this, mode, from?.snapshot ?? this.visible);
    this.transactions.add(transaction);
    return transaction;
  }

  dictionary(id: DictionaryId, seq: number): ModelDictionary {
    const dictionary = this.dictionaries.get(id);
    if (dictionary === undefined || dictionary.dropped <= seq) {
      throw new EngineError('unknown-dictionary', `no dictionary ${id}`, { place: { dictionary: id } });
    }
    return dictionary;
  }

  load(id: DictionaryId): Load {
    const dictionary = this.dictionary(id, this.newest);
    const rows = new Map<string, { readonly key: Uint8Array; readonly value: Uint8Array }>();
    let duplicate: Uint8Array | undefined;
    return {
      add: (key, value) => {
        if (rows.has(hex(key))) duplicate = key.slice();
        rows.set(hex(key), { key: key.slice(), value: value.slice() });
      },
      finish: async () => {
        await Promise.resolve();
        if (duplicate !== undefined) throw new EngineError('duplicate', 'a key came twice', { place: { fromKey: duplicate, value: must(rows.get(hex(duplicate)), 'there').value } });
        let bytes = 0;
        for (const { key, value } of rows.values()) {
          const entry = dictionary.find(key);
          if (entry === undefined) dictionary.write(key, { seq: 0, value });
          else entry.versions.unshift({ seq: 0, value });
          bytes += key.length + value.length;
        }
        return { rows: rows.size, bytes };
      },
      abort: () => {
        rows.clear();
      },
    };
  }

  checkpoint(): Promise<void> {
    return Promise.resolve();
  }

  verify(): Promise<VerifyReport> {
    return Promise.resolve({ problems: [], dictionaries: this.dictionaries.size, blocks: 0, rows: 0 });
  }

  backup(): Promise<never> {
    return Promise.reject(new EngineError('io', 'a model has no files'));
  }

  lastWrite(id: DictionaryId, snapshot: Seq): Seq | undefined {
    return this.dictionary(id, snapshot).lastSeq <= snapshot ? (this.dictionary(id, snapshot).lastSeq as Seq) : undefined;
  }

  statistics(): EngineStatistics {
    return {
      commits: this.commits, aborts: 0, conflicts: 0, logBytesWritten: 0, logSyncs: 0, logGroups: 0, dataBytesWritten: 0,
      dataBytesRead: 0, checkpoints: 0, lastCheckpointMs: 0, jobs: 0, sentJobs: 0, workerDeaths: 0, cacheBytesMax: 0, cacheBytesUsed: 0, frontBytes: 0,
      writeSetBytes: 0, openTransactions: this.open, openSnapshots: this.open, dataFileBytes: 0, freeableBytes: 0, blobFileBytes: 0, blobLiveBytes: 0, blobSegments: 0, blobBytesWritten: 0, blobBytesRead: 0, blobBytesMoved: 0, logBytesOnDisk: 0, dictionaries: this.dictionaries.size,
    };
  }

  dictionaryStatistics(id: DictionaryId): DictionaryStatistics {
    const totals = this.begin('read').totals(id);
    return { ...totals, diskBytes: totals.bytes, rawBytes: totals.bytes, height: 1, leaves: 1, options: { compression: 'none', pageBytes: 1 << 20, readPageBytes: 1 << 14, fanout: 16 } };
  }

  rewrite = (): Promise<void> => Promise.resolve();
  treeLevels = (): Promise<[]> => Promise.resolve([]);
  lockRequests = (): [] => [];
  liveTransactions = (): [] => [];
  close(): Promise<void> {
    return Promise.resolve();
  }
}

class ModelTransaction implements Transaction {
  readonly id = 0;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  readonly #environment: ModelEnvironment;
  readonly #held: Set<string> = new Set();
  readonly #created: Map<DictionaryId, ModelDictionary> = new Map();
  readonly #dropped: Set<DictionaryId> = new Set();
  #writes: OwnWrite[] = [];
  #ranges: OwnRange[] = [];
  /** Dictionaries that it has locked or written a key of. */
  readonly used: Set<DictionaryId> = new Set();
  readonly lockedRanges: { readonly id: DictionaryId; readonly range: RangeDelete }[] = [];
  #counts: { readonly order: number; readonly id: DictionaryId; readonly rows: number; readonly bytes: number }[] = [];
  #order = 0;
  #ended = false;

  constructor(environment: ModelEnvironment, mode: TransactionMode, snapshot: Seq) {
    this.#environment = environment;
    this.mode = mode;
    this.snapshot = snapshot;
  }

  #dictionary(id: DictionaryId): ModelDictionary {
    if (this.#ended) throw new EngineError('closed', 'the transaction has ended');
    return this.#created.get(id) ?? this.#environment.dictionary(id, this.#dropped.has(id) ? Infinity : this.snapshot);
  }

  createDictionary(): DictionaryId {
    const id = this.#environment.nextDictionary++ as DictionaryId;
    this.#created.set(id, new ModelDictionary(0));
    return id;
  }

  changeDictionary(): void {}
  dropDictionary(id: DictionaryId): void {
    this.#dictionary(id);
    this.#dropped.add(id);
  }

  own(id: DictionaryId, key: Uint8Array): { readonly order: number; readonly value: Uint8Array | undefined } | undefined {
    const write = this.#writes.findLast((other) => other.id === id && compareBytes(other.key, key) === 0);
    const range = this.#ranges.findLast((other) => other.id === id && coversKey(other.range, key));
    return range !== undefined && range.order > (write?.order ?? 0) ? { order: range.order, value: undefined } : write;
  }

  /** Whether somebody else has a range with the key. */
  #isInRange(id: DictionaryId, key: Uint8Array): boolean {
    const others = [...this.#environment.transactions].filter((other) => other !== this);
    return others.some((other) => other.lockedRanges.some((locked) => locked.id === id && coversKey(locked.range, key)));
  }

  #tryRange(id: DictionaryId, { from, to }: KeyRange): boolean {
    const others = [...this.#environment.transactions].filter((other) => other !== this);
    if (others.some((other) => other.used.has(id) || other.lockedRanges.some((locked) => locked.id === id))) return false;
    this.lockedRanges.push({ id, range: { from, to, seq: 0 } });
    return true;
  }

  lockRange(id: DictionaryId, range: KeyRange): Soon<void> {
    this.#dictionary(id);
    if (!this.#tryRange(id, range)) throw new EngineError(this.mode === 'statement' ? 'locked' : 'write-conflict', 'others have written');
  }

  async deleteRange(id: DictionaryId, range: KeyRange, rows: number, bytes: number): Promise<void> {
    const dictionary = this.#dictionary(id);
    const { from, to } = range;
    if (from !== undefined && to !== undefined && compareBytes(from, to) >= 0) return;
    const isOwn = this.#created.has(id);
    const isFree = isOwn || this.#tryRange(id, range);
    if (!isFree && this.mode === 'statement') throw new EngineError('locked', 'others have written');
    if (isFree && (isOwn || this.mode === 'statement' || dictionary.lastSeq <= this.snapshot)) {
      this.#ranges.push({ order: ++this.#order, id, range: { from, to, seq: 0 } });
    } else {
      const cursor = this.cursor(id, range, 1);
      for (let batch = await cursor.nextBatch(oneRow); batch.length > 0; batch = await cursor.nextBatch(oneRow)) await this.remove(id, batch.key(0));
    }
    this.count(id, -rows, -bytes);
  }

  get(id: DictionaryId, key: Uint8Array): Soon<Uint8Array | undefined> {
    const dictionary = this.#dictionary(id);
    const own = this.own(id, key);
    return own !== undefined ? own.value : dictionary.read(key, this.snapshot);
  }

  getPart(id: DictionaryId, key: Uint8Array, { from, to }: ValuePart): Soon<Uint8Array | undefined> {
    return (this.get(id, key) as Uint8Array | undefined)?.subarray(from, to);
  }

  getLatest(id: DictionaryId, key: Uint8Array): Soon<Uint8Array | undefined> {
    const dictionary = this.#dictionary(id);
    const own = this.own(id, key);
    return own !== undefined ? own.value : dictionary.read(key, this.#environment.newest);
  }

  lock(id: DictionaryId, key: Uint8Array): Soon<void> {
    const dictionary = this.#dictionary(id);
    const name = `${id}/${hex(key)}`;
    if (this.#held.has(name)) return undefined;
    if (this.#isInRange(id, key)) throw new EngineError(this.mode === 'statement' ? 'locked' : 'write-conflict', 'a range of another transaction');
    this.used.add(id);
    const lock = this.#environment.locks.get(name);
    if (lock !== undefined && this.mode !== 'statement') throw new EngineError('write-conflict', 'another transaction holds the key');
    if (lock !== undefined) return this.#wait(name, lock);
    this.#environment.locks.set(name, { owner: this, waiters: [] });
    this.#held.add(name);
    const newest = dictionary.find(key)?.versions.at(-1)?.seq ?? 0;
    const isOld = newest > this.snapshot || coveringSeq(dictionary.ranges, key, Infinity) > this.snapshot;
    if (this.mode === 'snapshot' && isOld) throw new EngineError('write-conflict', 'the key was changed since');
    return undefined;
  }

  #wait(name: string, lock: Lock): Promise<void> {
    const { waitsFor } = this.#environment;
    for (let other: ModelTransaction | undefined = lock.owner; other !== undefined; other = waitsFor.get(other)) {
      if (other === this) throw new EngineError('deadlock', 'waiting would never end');
    }
    waitsFor.set(this, lock.owner);
    return new Promise((resolve, reject) => {
      const grant = (): void => {
        waitsFor.delete(this);
        this.#held.add(name);
        resolve();
      };
      lock.waiters.push({ transaction: this, grant, refuse: reject });
    });
  }

  #write(id: DictionaryId, key: Uint8Array, value: Uint8Array | undefined): void {
    this.#dictionary(id);
    this.#writes.push({ order: ++this.#order, id, key: key.slice(), value: value?.slice() });
  }

  #lockAndWrite(id: DictionaryId, key: Uint8Array, value: Uint8Array | undefined): Soon<void> {
    const locked = this.lock(id, key);
    if (locked instanceof Promise) return locked.then(() => { this.#write(id, key, value); });
    this.#write(id, key, value);
    return undefined;
  }

  put(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void> {
    return this.#lockAndWrite(id, key, value);
  }

  remove(id: DictionaryId, key: Uint8Array): Soon<void> {
    return this.#lockAndWrite(id, key, undefined);
  }

  async update(id: DictionaryId, key: Uint8Array, functionNumber: number, argument: Uint8Array): Promise<void> {
    const known = updateTable.functions.get(functionNumber);
    if (known?.takes(argument) !== true) throw new EngineError('format', 'an unknown update');
    await this.lock(id, key);
    this.#write(id, key, known.apply(await this.getLatest(id, key), argument));
  }

  putCovered(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void> {
    this.used.add(id);
    this.#write(id, key, value);
  }

  putCoveredPart(id: DictionaryId, { bytes, start, end }: BytesPart, value: Uint8Array): Soon<void> {
    return this.putCovered(id, bytes.slice(start, end), value);
  }

  removeCovered(id: DictionaryId, key: Uint8Array): Soon<void> {
    this.used.add(id);
    this.#write(id, key, undefined);
  }

  count(id: DictionaryId, rows: number, bytes: number): void {
    this.#counts.push({ order: ++this.#order, id, rows, bytes });
  }

  totals(id: DictionaryId): Totals {
    const committed = this.#dictionary(id).deltas.filter((delta) => delta.seq <= this.snapshot);
    const all = [...committed, ...this.#counts.filter((count) => count.id === id)];
    return { rows: all.reduce((sum, delta) => sum + delta.rows, 0), bytes: all.reduce((sum, delta) => sum + delta.bytes, 0) };
  }

  cursor(id: DictionaryId, range: KeyRange, direction: Direction): Cursor {
    const dictionary = this.#dictionary(id);
    const rows = new Map<string, { readonly key: Uint8Array; readonly value: Uint8Array | undefined }>();
    for (const { key } of dictionary.entries) rows.set(hex(key), { key, value: dictionary.read(key, this.snapshot) });
    for (const write of this.#writes) if (write.id === id) rows.set(hex(write.key), write);
    for (const row of rows.values()) rows.set(hex(row.key), { key: row.key, value: (this.own(id, row.key) ?? row).value });
    const inside = [...rows.values()].filter(({ key, value }) =>
      value !== undefined &&
      (range.from === undefined || compareBytes(key, range.from) >= 0) &&
      (range.to === undefined || compareBytes(key, range.to) < 0));
    inside.sort((a, b) => direction * compareBytes(a.key, b.key));
    return new ModelCursor(inside as { key: Uint8Array; value: Uint8Array }[], direction);
  }

  mark(): number {
    return this.#order;
  }

  rollbackTo(mark: number): void {
    this.#writes = this.#writes.filter((write) => write.order <= mark);
    this.#counts = this.#counts.filter((count) => count.order <= mark);
    this.#ranges = this.#ranges.filter((range) => range.order <= mark);
  }

  async commit(): Promise<Seq> {
    const environment = this.#environment;
    await Promise.resolve();
    if (this.#ended) throw new EngineError('closed', 'the transaction has ended');
    const writes = this.#writes.length + this.#created.size + this.#dropped.size + this.#counts.length + this.#ranges.length;
    if (writes > 0) this.#apply(++environment.newest);
    this.#end();
    environment.commits += 1;
    return environment.visible;
  }

  #apply(seq: number): void {
    const { dictionaries } = this.#environment;
    for (const [id, dictionary] of this.#created) {
      dictionaries.set(id, dictionary);
      dictionary.lastSeq = seq;
    }
    const last = new Map(this.#writes.map((write) => [`${write.id}/${hex(write.key)}`, write]));
    const changed = (id: DictionaryId): ModelDictionary => {
      const dictionary = must(dictionaries.get(id), 'known');
      dictionary.lastSeq = seq;
      return dictionary;
    };
    for (const { id, range } of this.#ranges) changed(id).ranges.push({ ...range, seq });
    for (const write of last.values()) if (this.own(write.id, write.key) === write) changed(write.id).write(write.key, { seq, value: write.value });
    for (const { id, rows, bytes } of this.#counts) {
      must(dictionaries.get(id), 'known').deltas.push({ seq, rows, bytes });
      const own = this.#counts.filter((count) => count.id === id);
      if (isChange(own)) changed(id);
    }
    for (const id of this.#dropped) must(dictionaries.get(id), 'known').dropped = seq;
  }

  abort(): void {
    if (!this.#ended) this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#environment.open -= 1;
    this.#environment.transactions.delete(this);
    for (const name of this.#held) {
      const lock = must(this.#environment.locks.get(name), 'held');
      const next = lock.waiters.shift();
      if (next === undefined) this.#environment.locks.delete(name);
      else {
        lock.owner = next.transaction;
        for (const waiter of lock.waiters) this.#environment.waitsFor.set(waiter.transaction, next.transaction);
        next.grant();
      }
    }
  }
}

const oneRow = { rows: 1, bytes: 1 };

/** Whether stated deltas come to something. */
function isChange(counts: readonly { readonly rows: number; readonly bytes: number }[]): boolean {
  return counts.reduce((sum, { rows }) => sum + rows, 0) !== 0 || counts.reduce((sum, { bytes }) => sum + bytes, 0) !== 0;
}
