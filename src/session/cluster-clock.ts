// The logical time of the server: (seconds, increment) pairs that never repeat and never go back, also when the wall clock does.
// Every write takes the next ones; every reply tells the newest as `operationTime`, and the newest anybody has seen as `$clusterTime`.

import type { Clock } from '../env/index.ts';
import { Timestamp } from '../bson/index.ts';

/** Gives logical times. */
export class ClusterClock {
  readonly #clock: Clock;
  #operation: Timestamp;
  #cluster: Timestamp;

  /** `floor`: a time that earlier runs have not passed. */
  constructor(clock: Clock, floor: Timestamp) {
    this.#clock = clock;
    const seconds = Math.max(Math.floor(clock.nowMs() / 1000), floor.seconds);
    this.#operation = new Timestamp(seconds, seconds === floor.seconds ? floor.increment + 1 : 1);
    this.#cluster = this.#operation;
  }

  /** Time of the newest write that everybody can see. */
  get operationTime(): Timestamp {
    return this.#operation;
  }

  /** The newest time that this server has given or been told. */
  get clusterTime(): Timestamp {
    return this.#cluster;
  }

  /** The time of something that is done at once: greater than all before. */
  tick(): Timestamp {
    const time = this.reserve(1);
    this.reached(time);
    return time;
  }

  /** The first of so many times that follow one another, all greater than every one before; for writes that are on their way. */
  reserve(ticks: number): Timestamp {
    const now = Math.floor(this.#clock.nowMs() / 1000);
    const last = this.#cluster;
    const first = now > last.seconds ? new Timestamp(now, 1) : new Timestamp(last.seconds, last.increment + 1);
    this.#cluster = ticks === 1 ? first : new Timestamp(first.seconds, first.increment + ticks - 1);
    return first;
  }

  /** A write whose last time this is can be seen. */
  reached(time: Timestamp): void {
    if (isAfter(time, this.#operation)) this.#operation = time;
  }

  /** Takes notice of a time that a client was told elsewhere. */
  observe(time: Timestamp): void {
    if (isAfter(time, this.#cluster)) this.#cluster = time;
  }
}

function isAfter(a: Timestamp, b: Timestamp): boolean {
  return a.seconds > b.seconds || (a.seconds === b.seconds && a.increment > b.increment);
}
