// One open data directory: opens or makes it, recovers, wires the parts together, and closes it. docs/recovery.md tells what opening does
// after a crash.

import { EngineError } from '../base/errors.ts';
import { Roster } from '../base/roster.ts';
import type { DirectoryLock, Env } from '../env/index.ts';
import { backUp } from './backup/hot-backup.ts';
import { makeDurableDirectory, openStore } from './backup/data-directory.ts';
import { Background } from './background.ts';
import { BlobCollector } from './blob-collector.ts';
import { Checkpoints } from './checkpoints.ts';
import { Commits } from './commits.ts';
import type { EngineParts } from './engine-parts.ts';
import { Gate } from './gate.ts';
import { JobRunner } from './job-runner.ts';
import { BulkLoad } from './load.ts';
import { MergeRunner } from './merge-runner.ts';
import { catalogDictionary, engineOptions } from './options.ts';
import { Parts } from './parts.ts';
import { Reads } from './reads.ts';
import { recover } from './recovery.ts';
import { EngineState } from './state.ts';
import { statisticsOf } from './statistics.ts';
import { EngineTransaction } from './transaction.ts';
import { treeLevels } from './tree-shape.ts';
import { rewriteJob } from './tree/job/rewrite-job.ts';
import type { RewritePlace } from './tree/job/rewrite-job.ts';
import { ownTransaction } from './txn/lock-table.ts';
import type { BackupReport, DictionaryId, DictionaryStatistics, EngineOptions, EngineStatistics, Environment, LiveTransaction, Load, LockRequest, Seq, Soon, Transaction, TransactionMode, TreeLevel, VerifyReport } from './types.ts';
import { verifyEnvironment } from './verify.ts';

const modes: ReadonlySet<string> = new Set<TransactionMode>(['snapshot', 'statement', 'read']);
/** How often a backup looks whether loads are through with their trees. */
const adoptWaitMs = 20;

/** An environment on files. */
class FileEnvironment implements Environment {
  readonly catalogDictionary: DictionaryId = catalogDictionary;
  readonly fatal: Promise<Error>;
  readonly #engine: EngineParts;
  readonly #background: Background;
  readonly #checkpoints: Checkpoints;
  readonly #runner: JobRunner;
  readonly #collector: BlobCollector;
  readonly #lock: DirectoryLock;
  readonly #loads: Set<BulkLoad> = new Set();
  #transactions: number = 0;
  #closing: Promise<void> | undefined;
  #backup: Promise<BackupReport> | undefined;

  constructor(engine: EngineParts, work: { background: Background; collector: BlobCollector; checkpoints: Checkpoints; runner: JobRunner; lock: DirectoryLock }) {
    this.#engine = engine;
    this.#background = work.background;
    this.#checkpoints = work.checkpoints;
    this.#runner = work.runner;
    this.#collector = work.collector;
    this.#lock = work.lock;
    this.fatal = engine.state.fatal;
  }

  get visible(): Seq {
    return this.#engine.state.visible;
  }

  begin(mode: TransactionMode, from?: Transaction): Transaction {
    const { state } = this.#engine;
    state.checkUsable();
    if (!modes.has(mode)) throw new EngineError('format', `a transaction is of mode ${[...modes].join(', ')}, not ${mode}`);
    if (from !== undefined && mode !== 'read') throw new EngineError('closed', 'only a read transaction shares a snapshot');
    // What an ended transaction saw may be gone (law 3).
    if (from !== undefined && !(from instanceof EngineTransaction && from.isOpenIn(this.#engine))) throw new EngineError('closed', 'the transaction whose snapshot is wanted has ended');
    return new EngineTransaction(this.#engine, ++this.#transactions, mode, from?.snapshot ?? state.visible);
  }

  load(id: DictionaryId, companions: number = 1): Load {
    const { state, parts } = this.#engine;
    state.checkUsable();
    const tree = state.treeAt(id, state.visible);
    if (tree.isHollow) throw new EngineError('locked', `dictionary ${id} is being loaded`, { place: { dictionary: id } });
    const load = new BulkLoad({
      state, merges: new MergeRunner(state, parts), runJob: (of, make) => this.#background.runJob(of, make), checkpoint: () => this.#checkpoints.run(),
      ended: () => this.#loads.delete(load),
    }, tree, companions);
    this.#loads.add(load);
    return load;
  }

  async rewrite(id: DictionaryId, progress: () => Soon<void> = () => undefined): Promise<void> {
    const { state } = this.#engine;
    state.checkUsable();
    const tree = state.treeAt(id, state.visible);
    if (tree.isHollow) throw new EngineError('locked', `dictionary ${id} is being loaded`, { place: { dictionary: id } });
    const place: RewritePlace = { from: undefined, pushed: 0, done: false };
    while (!place.done) {
      const done = await this.#background.runJob(tree, (context) => rewriteJob(tree, context, place));
      if (!done) throw new EngineError('no-space', 'there is no space to write the dictionary anew');
      await progress();
    }
  }

  async checkpoint(): Promise<void> {
    await this.#checkpoints.run();
  }

  async verify(): Promise<VerifyReport> {
    return await verifyEnvironment(this.#engine);
  }

  async backup(target: string, progress: (bytesDone: number, bytesTotal: number) => void = () => undefined): Promise<BackupReport> {
    const { state } = this.#engine;
    state.checkUsable();
    if (this.#backup !== undefined) throw new EngineError('locked', 'a backup is being made already');
    const going = (bytesDone: number, bytesTotal: number): void => {
      if (this.#closing !== undefined) throw new EngineError('closed', 'the environment was closed while it was backed up');
      progress(bytesDone, bytesTotal);
    };
    const source = {
      env: state.env, path: state.path, store: state.store, checkpoint: () => this.#checkpoints.run(), currentSegment: () => state.log.segmentOf(Infinity),
    };
    const copy = async (): Promise<BackupReport> => {
      while (state.adopting > 0) await state.env.clock.sleep(adoptWaitMs);
      state.isBackingUp = true;
      await makeDurableDirectory(state.env, target);
      return await backUp(source, target, going);
    };
    this.#backup = copy().finally(() => {
      state.isBackingUp = false;
      this.#backup = undefined;
    });
    return await this.#backup;
  }

  lockRequests(): readonly LockRequest[] {
    const { requests, env } = this.#engine.state;
    const nowMs = env.clock.monotonicMs();
    return [...requests].map(({ dictionary, key, range, requesting, blocking, sinceMs }) => ({ dictionary, key, range, requesting, blocking: blocking(), waitedMs: nowMs - sinceMs }));
  }

  liveTransactions(writtenMax: number): readonly LiveTransaction[] {
    const open = this.#engine.open.all().sort((a, b) => a.id - b.id);
    return open.flatMap((transaction) => (transaction instanceof EngineTransaction ? [transaction.describe(writtenMax)] : []));
  }

  statistics(): EngineStatistics {
    return statisticsOf(this.#engine.state);
  }

  lastWrite(id: DictionaryId, snapshot: Seq): Seq | undefined {
    const { lastSeq } = this.#engine.state.treeAt(id, snapshot);
    return lastSeq <= snapshot ? (lastSeq as Seq) : undefined;
  }

  treeLevels(id: DictionaryId): Promise<readonly TreeLevel[]> {
    const { state } = this.#engine;
    return treeLevels(this.#engine, state.treeAt(id, state.visible));
  }

  dictionaryStatistics(id: DictionaryId): DictionaryStatistics {
    const { state } = this.#engine;
    const tree = state.treeAt(id, state.visible);
    return { ...tree.totalsAt(state.visible), diskBytes: tree.storedBytes + tree.blobBytes + tree.active.blobBytes, rawBytes: tree.rawBytes + tree.blobBytes + tree.active.blobBytes, height: tree.height, leaves: tree.leaves, options: tree.options };
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    const { state } = this.#engine;
    for (const transaction of this.#engine.open.all()) transaction.abort();
    await this.#backup?.catch((cause: unknown) => cause);
    await Promise.all([...this.#loads].map((load) => load.close()));
    await this.#collector.stop();
    await this.#background.stop();
    try {
      if (state.failure === undefined) await this.#background.flushAll();
      if (state.failure === undefined) await this.#checkpoints.run();
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'no-space')) throw error;
    } finally {
      state.closed = true;
      state.budget.wake();
      this.#runner.close();
      this.#engine.spillRunner.close();
      await closeFiles(state, this.#lock);
    }
  }
}

async function closeFiles(state: EngineState, lock: DirectoryLock): Promise<void> {
  try {
    await state.log.close();
    await state.blobs.close();
  } finally {
    await state.store.close().finally(() => lock.release());
  }
}

/**
 * Opens the environment in a directory, which is made when it is not there; recovers what a crash left. `locked` when another process (its
 * pid is in `place`) or this one has it open, `format` for files of a later version, `corruption` when what names other things is damaged.
 */
export async function openEnvironment(env: Env, path: string, options: Partial<EngineOptions> = {}): Promise<Environment> {
  const complete = engineOptions(options);
  await makeDurableDirectory(env, path);
  const lock = await env.files.lockDirectory(path);
  try {
    return await openLocked(env, path, complete, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(env: Env, path: string, options: EngineOptions, lock: DirectoryLock): Promise<Environment> {
  const { store, root } = await openStore(env, path, options.unfinished === true);
  const state = new EngineState(env, path, options, store);
  const parts = new Parts(state);
  const checkpoints = new Checkpoints(state, root?.dictionaryTable);
  const engine: EngineParts = {
    state, parts, reads: new Reads(state, parts), commits: new Commits(state), spillGate: new Gate(), spillRunner: new MergeRunner(state, parts),
    checkpoint: () => checkpoints.run(), open: new Roster(),
  };
  const runner = new JobRunner(state, parts);
  const collector = new BlobCollector(engine, () => beginMove(engine));
  const background = new Background(engine, runner, checkpoints, collector);
  try {
    await recover(engine, root, () => background.stepOfReplay());
    if (root === undefined) {
      state.createTree(catalogDictionary, options.dictionary, 0);
      await checkpoints.run();
    }
  } catch (error) {
    runner.close();
    await state.blobs.close();
    await store.close();
    throw error;
  }
  background.start();
  background.wake();
  return new FileEnvironment(engine, { background, collector, checkpoints, runner, lock });
}

/** A transaction of the environment itself. */
function beginMove(engine: EngineParts): EngineTransaction {
  return new EngineTransaction(engine, ownTransaction, 'snapshot', engine.state.visible);
}
