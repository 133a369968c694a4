// A catalog transaction: the engine's, the names it changed, and the collections it wrote. It keeps law 29: a write set built under an
// older definition of its collection does not commit. The check and the engine's commit are one synchronous step, and so are the change of
// version and the commit of whoever changes a definition, so that the order of the two is the order in the log.

import { AssertionError } from '../base/errors.ts';
import type { Roster } from '../base/roster.ts';
import type { Paced } from '../env/index.ts';
import type { DictionaryId, Seq, Soon, Transaction, TransactionMode } from '../engine/index.ts';
import { changedMeanwhile } from './refusal.ts';
import type { Namespace } from './namespace.ts';
import type { NewOperation, OperationOwner } from './oplog/operation.ts';
import type { CommitHead } from './oplog/operation-row.ts';
import { NotedOperations } from './oplog/noted-operations.ts';
import type { SideRows } from './oplog/side-rows.ts';
import { afterSoon } from './soon.ts';
import type { CommitRows, Oplog } from './oplog/oplog.ts';
import type { UnsizedFlag } from './unsized-flag.ts';
import type { CatalogTransaction } from './types.ts';

/** What all objects that stand for one collection share, whatever its definition was when they were made. */
export interface CollectionState {
  /** Goes up when the definition changes; objects of an older version are for reading only. */
  version: number;
  /** While an index is built: resolves when writers may go on. */
  held: Promise<void> | undefined;
  /** While indexes are built beside the writers: resolves at its end. */
  build: Promise<void> | undefined;
  /** Commits under way of transactions that wrote it. */
  readonly committing: Roster<Promise<unknown>>;
  /** The newest commit of a transaction that wrote it, as far as it is known. */
  lastWrite: number;
  /** Whether its bytes are no longer counted exactly, as far as this program knows. */
  readonly unsized: UnsizedFlag;
  /** Of a capped collection: the newest number given to a document; undefined until one is asked for. */
  lastRecord: number | undefined;
}

/** One version of a collection's definition, as far as a transaction must know it. */
export interface CollectionVersion {
  readonly ns: Namespace;
  readonly state: CollectionState;
  readonly version: number;
  /** The transaction that made this version and has not committed yet. */
  readonly owner: CatalogTransaction | undefined;
}

/** An index that learns when its multikey flags are durable. */
export interface FlaggedIndex {
  flagsCommitted(flags: Iterable<number>): void;
}

/** Who keeps the names that transactions change: told of what becomes of a transaction. */
export interface TransactionObserver {
  /** What was changed after the mark is taken back. */
  rolledBack(txn: StoredTransaction, mark: number): void;
  /** In the step that commits, before the engine: its names change. */
  committing(txn: StoredTransaction): void;
  committed(txn: StoredTransaction, seq: Seq): void;
  failed(txn: StoredTransaction): void;
}

/** The one implementation of CatalogTransaction. */
export class StoredTransaction implements CatalogTransaction {
  readonly engine: Transaction;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  readonly #observer: TransactionObserver;
  pace: Paced | undefined;
  /** Whether it has changed names. */
  hasNameChanges = false;
  /** The name of the collection that is being loaded for it. */
  loading: string | undefined;
  /** Whether it keeps others from what it looks at, and the dictionaries that it has. */
  isIsolated = false;
  isolated: Set<DictionaryId> | undefined;
  readonly #written: CollectionVersion[] = [];
  #flags: Map<FlaggedIndex, Set<number>> | undefined;
  #lastWritten: CollectionVersion | undefined;
  readonly #oplog: Oplog | undefined;
  /** What was noted and is in memory; made with the first. */
  #noted: NotedOperations | undefined;
  /** Where operations are that are in memory no more. */
  #aside: SideRows | undefined;
  #owner: OperationOwner | undefined;
  #quiet: readonly CollectionState[] = [];
  /** Keys removed from indexes that are prepared to be made unique. */
  #removed: Set<string> | undefined;
  #ended = false;

  constructor(engine: Transaction, observer: TransactionObserver, oplog?: Oplog) {
    this.engine = engine;
    this.#oplog = oplog;
    this.mode = engine.mode;
    this.snapshot = engine.snapshot;
    this.#observer = observer;
  }

  get id(): number {
    return this.engine.id;
  }

  isolate(): void {
    this.isIsolated = true;
  }

  get hasWritten(): boolean {
    return this.#written.length > 0 || this.hasNameChanges || this.#hasNoted || this.#aside !== undefined;
  }

  get #hasNoted(): boolean {
    return this.#noted !== undefined && this.#noted.count > 0;
  }

  /** To be called before each write: waits while an index is built, refuses an object whose definition is old. */
  willWrite(collection: CollectionVersion): Soon<void> {
    if (this.#noted !== undefined && this.#noted.count > 1 && this.#noted.byteSize > (this.#oplog?.asideBytes ?? Infinity)) return afterSoon(this.#putAside(), () => this.willWrite(collection));
    if (collection === this.#lastWritten) return undefined;
    if (collection.owner === this) {
      this.#lastWritten = collection;
      return undefined;
    }
    const { state } = collection;
    if (state.held !== undefined && this.mode === 'statement') return state.held.then(() => this.willWrite(collection));
    if (state.held !== undefined || collection.version !== state.version) throw changedMeanwhile(collection.ns.text);
    if (!this.#written.includes(collection)) this.#written.push(collection);
    this.#lastWritten = collection;
    return undefined;
  }

  /** Lets the commit be refused if somebody else has written the collection since this transaction's snapshot. */
  requireQuiet(state: CollectionState): void {
    this.#quiet = [...this.#quiet, state];
  }

  /** Whether this transaction has put that multikey flag itself. */
  hasFlag(index: FlaggedIndex, flag: number): boolean {
    return this.#flags?.get(index)?.has(flag) ?? false;
  }

  addFlag(index: FlaggedIndex, flag: number): void {
    const all: Map<FlaggedIndex, Set<number>> = this.#flags ?? new Map<FlaggedIndex, Set<number>>();
    this.#flags = all;
    const flags = all.get(index);
    if (flags === undefined) all.set(index, new Set([flag]));
    else flags.add(flag);
  }

  /** Notes that it has removed a key of an index that is prepared to be made unique. */
  noteRemoved(dictionary: DictionaryId, key: Uint8Array): void {
    (this.#removed ??= new Set()).add(removedName(dictionary, key));
  }

  /** Whether it has removed that key at some time. */
  hasRemoved(dictionary: DictionaryId, key: Uint8Array): boolean {
    return this.#removed?.has(removedName(dictionary, key)) ?? false;
  }

  /** Whether what it does in that database is to be noted. */
  logs(db: string): boolean {
    return this.#oplog?.logs(db) ?? false;
  }

  /** Notes, just before it is written, what is done: the commit logs it. */
  note(operation: NewOperation): void {
    this.#noted ??= new NotedOperations();
    this.#noted.add(operation, this.engine.mark() + 1);
  }

  /** Moves what was noted out of memory, all but the last: somebody must say that it is the end. */
  #putAside(): Soon<void> {
    const oplog = this.#oplog;
    const noted = this.#noted;
    if (oplog === undefined || noted === undefined) return undefined;
    return afterSoon(this.#aside ?? oplog.aside(this.engine), (aside) => {
      this.#aside = aside;
      const { earlier, last } = noted.split();
      this.#noted = last;
      return oplog.writeAside(aside, earlier, this.#head, true);
    });
  }

  get #head(): CommitHead {
    return { transaction: this.mode === 'snapshot', owner: this.#owner };
  }

  identify(owner: OperationOwner): void {
    this.#owner = owner;
  }

  mark(): number {
    this.#aside?.marked();
    return this.engine.mark();
  }

  rollbackTo(mark: number): void {
    this.engine.rollbackTo(mark);
    if (this.hasNameChanges) this.#observer.rolledBack(this, mark);
    this.#flags = undefined;
    this.#noted?.rollbackTo(mark);
    if (this.#aside === undefined) return;
    const { again, isGone } = this.#aside.rolledBack(mark);
    if (again.length > 0) this.#noted = NotedOperations.joined(this.#noted === undefined ? again : [...again, this.#noted]);
    if (isGone) this.#aside = undefined;
  }

  async commit(): Promise<Seq> {
    if (this.#ended) return this.engine.commit();
    if (this.#aside !== undefined) await this.#endAside(this.#aside);
    this.#checkDefinitions();
    this.#ended = true;
    const observer = this.hasNameChanges ? this.#observer : undefined;
    observer?.committing(this);
    const noted = this.#aside === undefined ? this.#noted : undefined;
    const log = this.#logRows();
    const committing = this.engine.commit(log?.rows);
    const places = this.#written.map(({ state }) => state.committing.add(committing));
    try {
      const seq = await committing;
      for (const { state } of this.#written) state.lastWrite = Math.max(state.lastWrite, seq);
      if (this.#flags !== undefined) for (const [index, flags] of this.#flags) index.flagsCommitted(flags);
      observer?.committed(this, seq);
      log?.committed();
      noted?.release();
      return seq;
    } catch (error) {
      observer?.failed(this);
      throw error;
    } finally {
      this.#written.forEach(({ state }, at) => {
        state.committing.remove(places[at] ?? -1);
      });
    }
  }

  /** What is left in memory joins what is aside. */
  async #endAside(aside: SideRows): Promise<void> {
    const noted = this.#noted;
    this.#noted = undefined;
    if (noted !== undefined && noted.count > 0) await this.#oplog?.writeAside(aside, noted, this.#head, false);
  }

  #logRows(): CommitRows | undefined {
    if (this.#aside !== undefined) return this.#oplog?.rowFor(this.#aside, this.#owner);
    const noted = this.#noted;
    this.#noted = undefined;
    return noted === undefined ? undefined : this.#oplog?.rowsFor(noted, this.#head);
  }

  #checkDefinitions(): void {
    const old = this.#written.find(({ version, state }) => version !== state.version || state.held !== undefined);
    const loud = this.#quiet.some(({ lastWrite, committing }) => lastWrite > this.snapshot || committing.size > 0);
    if (old === undefined && !loud) return;
    this.abort();
    throw changedMeanwhile(old?.ns.text ?? 'a collection');
  }

  abort(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.engine.abort();
  }
}

const removedName = (dictionary: DictionaryId, key: Uint8Array): string => `${dictionary} ${key.join()}`;

/** The catalog's own transaction behind the interface. */
export function storedTransaction(txn: CatalogTransaction): StoredTransaction {
  if (!(txn instanceof StoredTransaction)) throw new AssertionError('a transaction is begun by the catalog');
  return txn;
}
