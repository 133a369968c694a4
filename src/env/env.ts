// The outside world as one injected object. Nothing but this layer and `src/bin/` touches files, clocks, randomness, timers or the process;
// so the same product code runs on a real machine, in memory, and in a simulator where one seed gives one execution (style.md 3.5).

import type { Codecs } from './codec.ts';
import type { FileSystem } from './file-system.ts';
import type { WorkerChannel } from './worker-thread.ts';

/** Time. */
export interface Clock {
  /** Milliseconds since 1970 by the wall clock; may jump either way. */
  nowMs(): number;
  /** Milliseconds, with fractions, from an arbitrary start; never goes back. For durations. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as `signal` is aborted. Never rejects. Does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves after `ms`, and keeps the process alive until then: somebody waits for what comes after. */
  wait(ms: number): Promise<void>;
}

/** Randomness, fit for secrets in the real environment. */
export interface Random {
  /** Fresh bytes. */
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 2^32). */
  uint32(): number;
}

/** What a slice of background work says: whether to call it again. */
export type StepResult = 'done' | 'more';

/** One bounded slice of work: does about `budgetMs` of it, then returns. */
export type Step = (budgetMs: number) => StepResult | Promise<StepResult>;

/** Work beside the request being served. */
export interface Tasks {
  /** Lets the event loop turn once: sockets and completed I/O get their turn. */
  pause(): Promise<void>;
  /** Calls `step` until it says `done`, with a pause before each call. Rejects with what `step` throws; then it is not called again. */
  background(step: Step): Promise<void>;
  /** Whether work on so many bytes is worth sending to another thread. Never where there is none. */
  isWorthSending(bytes: number): boolean;
  /** A conversation with the thread that runs the program `module`; see worker-thread.ts. */
  connect(module: URL): WorkerChannel;
}

/** Facts about the machine and the process. */
export interface Host {
  readonly pid: number;
  readonly hostname: string;
  /** As Node names it: linux, darwin, ... */
  readonly platform: string;
  readonly architecture: string;
  /** Release of the operating system's kernel. */
  readonly release: string;
  /** Processors this process may use. */
  readonly cpus: number;
  /** Memory of the machine. */
  readonly memoryBytes: number;
  /** Memory this process may use: the cgroup's limit, or the machine's memory. */
  readonly memoryLimitBytes: number;
  readonly runtimeVersion: string;
  /** Resident memory of this process now. */
  residentBytes(): number;
  /** Processor time of this process, in milliseconds. */
  cpuMs(): { readonly user: number; readonly system: number };
}

/** Everything outside. */
export interface Env {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly random: Random;
  readonly tasks: Tasks;
  readonly codecs: Codecs;
  readonly host: Host;
}
