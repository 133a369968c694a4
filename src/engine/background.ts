// What goes on beside the clients: flushing frozen fronts, pushing heavy buffers down, taking dropped trees apart, checkpoints in their time,
// syncing a delayed log. One thing after the other, in bounded steps; whoever waits for room waits for this.

import { AssertionError, EngineError } from '../base/errors.ts';
import type { BlobCollector } from './blob-collector.ts';
import type { Checkpoints } from './checkpoints.ts';
import { dropTree } from './drop-tree.ts';
import type { EngineParts } from './engine-parts.ts';
import type { JobRunner } from './job-runner.ts';
import type { EngineState } from './state.ts';
import { isWhole } from './run/range-delete.ts';
import type { Edit } from './tree/edit.ts';
import { isHindrance } from './tree/job/hindrance.ts';
import type { JobContext } from './tree/job/job-context.ts';
import type { JobStep } from './tree/job/request.ts';
import { Tidy } from './tidy.ts';
import { flushJob } from './tree/job/flush-job.ts';
import { mergeBufferJob } from './tree/job/merge-buffer-job.ts';
import { pushJob } from './tree/job/push-job.ts';
import type { Tree } from './tree/tree.ts';
import type { BlockNumber } from './block/block-number.ts';

/** A buffer this many times too heavy goes down before more is put on top, as far as the turn of pushes goes. */
const debtFactor = 2;
/** The same while recovery replays, which clients wait for. */
const replayFactor = 16;
/** What is pushed down for each byte that is flushed, and for each level that it has to pass. */
const pushedForFlushed = 1.25;
/** Without a commit for so long it is time to tidy. */
const quietMs = 1000;
/** How often a full disk is looked at. */
const fullWaitMs = 200;

interface Heavy {
  readonly tree: Tree;
  readonly node: BlockNumber;
  readonly weight: number;
}

/** What a piece of work came to. */
type StepResult = 'done' | 'idle' | 'no-space';

/** The loop of background work. */
export class Background {
  readonly #state: EngineState;
  readonly #runner: JobRunner;
  readonly #parts: EngineParts;
  readonly #checkpoints: Checkpoints;
  readonly #tidy: Tidy;
  readonly #collector: BlobCollector;
  readonly #stop: AbortController = new AbortController();
  #working: Promise<void> | undefined;
  #timers: Promise<void>[] = [];
  #started: boolean = false;
  /** Something woke the work while it was going on: it looks once more before it ends. */
  #again: boolean = false;
  /** A checkpoint was made since the last job on a full disk: another would free nothing. */
  #tidied: boolean = false;
  /** Jobs that others want done. */
  readonly #wanted: { readonly act: () => Promise<StepResult>; readonly refuse: (error: EngineError) => void }[] = [];
  /** Bytes that may be pushed down before the next front is flushed: no cascade goes to its end while fronts wait. */
  #turn: number = 0;
  /** What was visible at the timed checkpoint before. */
  #visibleThen: number = 0;
  /** What was visible when it was last asked whether anybody writes, and as long as nobody does. */
  #quietAt: number = -1;
  #isQuiet: boolean = false;

  constructor(parts: EngineParts, runner: JobRunner, checkpoints: Checkpoints, collector: BlobCollector) {
    this.#collector = collector;
    this.#parts = parts;
    this.#state = parts.state;
    this.#runner = runner;
    this.#checkpoints = checkpoints;
    this.#tidy = new Tidy(parts, runner, checkpoints);
    parts.state.onWork = () => this.wake();
  }

  /** Begins to work: before that recovery does the steps itself. */
  start(): void {
    const { options } = this.#state;
    this.#started = true;
    this.#timers.push(this.#every(options.checkpointPeriodMs, () => this.#checkpoint()));
    this.#timers.push(this.#every(Math.min(quietMs, options.checkpointPeriodMs), () => this.#lookForQuiet()));
    if (options.durability !== 'sync') this.#timers.push(this.#every(options.durability.delayedMs, () => this.#state.log.sync()));
  }

  /** Nobody has written since the last look: time to tidy. */
  async #lookForQuiet(): Promise<void> {
    const written = this.#written;
    this.#isQuiet = this.#quietAt === written;
    this.#quietAt = written;
    this.#collector.wake(this.#isQuiet);
    if (this.#isQuiet) this.wake();
    await Promise.resolve();
  }

  /** The newest commit that is a client's. */
  get #written(): number {
    return this.#state.visible - this.#state.counters.moves;
  }

  /** A checkpoint in its time. Fronts that were not flushed since the one before pin the log for little: they go first. */
  async #checkpoint(): Promise<void> {
    const { visible } = this.#state;
    if (this.#state.isFull) return;
    if (this.#state.log.bytesInUse > this.#state.options.logSegmentBytes) {
      this.#state.freezePinning(this.#visibleThen);
      await this.#flushedUpTo(this.#visibleThen);
    }
    await this.#checkpoints.run();
    this.#visibleThen = visible;
  }

  /**
   * Resolves when no frozen front holds what was visible at `seq`, or that takes long: what is written meanwhile is not waited for, since under
   * steady writing some front is always frozen.
   */
  async #flushedUpTo(seq: number): Promise<void> {
    const { frozen, budget, options, env } = this.#state;
    const deadline = env.clock.monotonicMs() + options.checkpointPeriodMs / 2;
    const isBelow = (): boolean => {
      for (const tree of frozen) if ((tree.oldestUnflushed ?? Infinity) <= seq) return false;
      return true;
    };
    const over = (): boolean =>
      isBelow() || this.#state.isFull || this.#state.failure !== undefined || this.#stop.signal.aborted || env.clock.monotonicMs() >= deadline;
    if (!over()) await budget.wait(over);
  }

  /** Flushes every front, so that the next start replays nothing; as far as there is space. */
  async flushAll(): Promise<void> {
    do {
      while (this.#state.frozen.size > 0) if ((await this.step()) !== 'done') return;
      // A tree whose front was frozen before has another one by now.
      this.#state.freezePinning(Infinity);
    } while (this.#state.frozen.size > 0);
  }

  async #every(periodMs: number, act: () => Promise<void>): Promise<void> {
    const { clock } = this.#state.env;
    for (;;) {
      await clock.sleep(periodMs, this.#stop.signal);
      if (this.#stop.signal.aborted || this.#state.failure !== undefined) return;
      try {
        await act();
      } catch (error) {
        if (!(error instanceof EngineError && error.code === 'no-space')) this.#state.poison(error);
      }
    }
  }

  /** Looks for work, if that is not going on. */
  wake(): void {
    if (!this.#started || this.#stop.signal.aborted || this.#state.failure !== undefined) return;
    this.#again = true;
    this.#working ??= this.#work()
      .catch((error: unknown) => {
        this.#state.poison(error);
        this.#refuseWanted();
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#again) this.wake();
      });
  }

  async #work(): Promise<void> {
    // The caller goes on first: what it began belongs together.
    await this.#state.env.tasks.pause();
    while (!this.#stop.signal.aborted && this.#state.failure === undefined) {
      this.#again = false;
      this.#checkpointBeside();
      const result = await this.step();
      if (result === 'no-space') this.#state.reportFull();
      if (this.#state.isFull) await this.#makeRoom(result);
      else if (result === 'idle') return;
    }
  }

  /**
   * On a full disk jobs use their reserve, and what they free comes back with a checkpoint, which makes the log shorter too; so there is one
   * after each. It ends when both reserves and the next segment are there.
   */
  async #makeRoom(result: StepResult): Promise<void> {
    const state = this.#state;
    if (result === 'done' || !this.#tidied) await this.#tryCheckpoint();
    this.#tidied = result !== 'done';
    const logReady = await state.log.ready();
    if ((await state.store.keepReserve()) && logReady && result !== 'no-space') {
      state.isFull = false;
      return;
    }
    if (!logReady) state.freezePinning(Infinity);
    if (result !== 'done') await state.env.clock.sleep(fullWaitMs, this.#stop.signal);
  }

  /** What a checkpoint must make shorter does not wait until there is nothing else to do: under steady writing there always is. */
  #checkpointBeside(): void {
    if (!this.#state.isFull && this.#checkpoints.wanted) void this.#tryCheckpoint().catch((error: unknown) => this.#state.poison(error));
  }

  async #tryCheckpoint(): Promise<boolean> {
    try {
      await this.#checkpoints.run();
      return true;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'no-space') return false;
      throw error;
    }
  }

  /**
   * One piece of the work that makes room for more fronts while recovery replays: what can be pushed down later, beside clients, waits, as long as no buffer grows
   * out of all measure.
   */
  async stepOfReplay(): Promise<StepResult> {
    const [frozen] = this.#state.frozen;
    const heavy = this.#heaviest();
    if (frozen === undefined || (heavy !== undefined && heavy.weight >= this.#state.options.bufferBytes * replayFactor)) return await this.step();
    return await this.#flush(frozen);
  }

  /** Does the most urgent piece of work. */
  async step(): Promise<StepResult> {
    const state = this.#state;
    const wanted = this.#wanted.shift();
    if (wanted !== undefined) return await wanted.act();
    const heavy = this.#heaviest();
    const [frozen] = state.frozen;
    // What a range delete over everything makes needless is not done first.
    if (frozen?.frozen.at(-1)?.ranges.some(isWhole) === true) return await this.#flush(frozen);
    if (heavy !== undefined && this.#isDue(heavy)) return await this.#push(heavy);
    if (frozen !== undefined) return await this.#flush(frozen);
    if (heavy !== undefined) return await this.#push(heavy);
    return await this.#lessUrgent();
  }

  async #lessUrgent(): Promise<StepResult> {
    const state = this.#state;
    // Writers may wait for nothing else.
    if (state.frontsFull && !state.applying && state.freezeLargest()) return 'done';
    if (this.#checkpoints.wanted) return (await this.#tryCheckpoint()) ? 'done' : 'no-space';
    const [pressed] = state.pressed;
    if (pressed !== undefined) return await this.#mergeBuffer(pressed);
    const gone = [...state.dropped].find((tree) => state.snapshots.oldest(state.visible) >= tree.droppedSeq);
    if (gone === undefined) return this.#isQuiet && this.#quietAt === this.#written ? await this.#tidy.step() : 'idle';
    await dropTree(this.#parts, this.#runner, gone);
    this.#tidy.noteFreed();
    return 'done';
  }

  /** Does a job between others; false when there was no space for it. */
  async runJob(tree: Tree, make: (context: JobContext) => JobStep<Edit | undefined>): Promise<boolean> {
    this.#state.checkUsable();
    return await new Promise((resolve, reject) => {
      const act = async (): Promise<StepResult> => {
        // What was dropped meanwhile takes no edit (law 15).
        if (this.#state.trees.get(tree.id) !== tree) {
          reject(new EngineError('unknown-dictionary', `dictionary ${tree.id} was dropped`, { place: { dictionary: tree.id } }));
          return 'done';
        }
        try {
          resolve(await this.#runner.run(tree, make));
        } catch (error) {
          reject(error instanceof Error ? error : new AssertionError(String(error)));
          // What is damaged is the caller's affair: nothing was changed.
          if (!isHindrance(error)) throw error;
        }
        return 'done';
      };
      this.#wanted.push({ act, refuse: reject });
      this.wake();
    });
  }

  /** Whoever wanted something done hears that it will not be. */
  #refuseWanted(): void {
    for (const { refuse } of this.#wanted.splice(0)) refuse(this.#state.failure ?? new EngineError('closed', 'the environment is closed'));
  }

  /** Whether a buffer goes down before the next front is flushed. */
  #isDue({ weight }: Heavy): boolean {
    const { isFull, options } = this.#state;
    return isFull || (this.#turn > 0 && weight >= options.bufferBytes * debtFactor);
  }

  #heaviest(): Heavy | undefined {
    let heaviest: Heavy | undefined;
    for (const tree of this.#state.unsettled) this.#settle(tree);
    for (const tree of this.#state.heavy) {
      if (tree.isHollow) continue;
      for (const [node, weight] of tree.heavy) if (weight > (heaviest?.weight ?? 0)) heaviest = { tree, node, weight };
    }
    return heaviest;
  }

  /** Range deletes that nobody sees behind any more go down. */
  #settle(tree: Tree): void {
    const { settledSeq, bufferBytes } = this.#state.limits;
    for (const [node, seq] of tree.unsettled) {
      if (seq > settledSeq) continue;
      tree.unsettled.delete(node);
      tree.heavy.set(node, Math.max(bufferBytes, tree.heavy.get(node) ?? 0));
      this.#state.heavy.add(tree);
    }
    if (tree.unsettled.size === 0) this.#state.unsettled.delete(tree);
  }

  async #push(heavy: Heavy): Promise<'done' | 'no-space'> {
    this.#turn -= heavy.weight;
    return (await this.#runner.run(heavy.tree, (context) => pushJob(heavy.tree, context, heavy.node))) ? 'done' : 'no-space';
  }

  /** Merges a buffer that reads have paid for. Where there is no space, reads go on as they did. */
  async #mergeBuffer(tree: Tree): Promise<StepResult> {
    const { dueBuffer } = tree;
    this.#state.pressed.delete(tree);
    // The node may have been joined with another or have gone since reads paid for it.
    const isThere = dueBuffer !== undefined && (tree.node(dueBuffer.node) !== undefined || this.#state.store.has(dueBuffer.node));
    const isGone = !isThere || this.#state.isFull || tree.isGoing || tree.isHollow || this.#state.trees.get(tree.id) !== tree;
    if (dueBuffer !== undefined && !isGone) await this.#runner.run(tree, (context) => mergeBufferJob(tree, context, dueBuffer));
    tree.settleDue();
    return 'done';
  }

  async #flush(tree: Tree): Promise<'done' | 'no-space'> {
    // What was not used is not kept: buffers that grow heavy all at once go down one after the other, between flushes.
    this.#turn = (tree.frozen.at(-1)?.messageBytes ?? 0) * tree.height * pushedForFlushed;
    return (await this.#runner.run(tree, (context) => flushJob(tree, context))) ? 'done' : 'no-space';
  }

  /** Ends the work: what is running comes to its end first. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#state.budget.wake();
    await this.#working;
    this.#refuseWanted();
    await Promise.all(this.#timers);
  }
}
