// The kinds of job a process can run, by name. Shared by every Tasks: in life and in the simulator the same functions run.

import { assert, must } from '../base/assert.ts';
import type { JobFunction } from './env.ts';

/** Names and functions. */
export class JobTable {
  readonly #functions = new Map<string, JobFunction>();

  /** Defines a kind, once; the same function again is allowed. */
  define(kind: string, run: JobFunction): void {
    const known = this.#functions.get(kind);
    assert(known === undefined || known === run, 'a kind of job is defined once');
    this.#functions.set(kind, run);
  }

  /** Runs a job here and now. */
  run<R>(kind: string, input: unknown): R {
    const job = must(this.#functions.get(kind), 'the kind of a job is defined before it is submitted');
    // eslint-disable-next-line frond/no-unsafe-assertion -- what a kind takes and gives is agreed by its name: jobs cross to a worker thread
    return (job as (input: unknown) => R)(input);
  }
}
