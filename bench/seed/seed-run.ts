// One run of the seed's experiment on one server: load the CSV under a small cache with the indexes there, count two boxes of ranks through
// plain indexes, add a covering (or clustering) index on rank2, count again.

/** Figures of one server. Times in seconds but for counts, which are in milliseconds, the median of a few. */
export interface SeedFigures {
  readonly name: string;
  readonly loadS: number;
  readonly loadCpuS: number;
  readonly writtenMb: number;
  readonly diskMb: number;
  readonly peakMb: number;
  readonly small: Counted;
  readonly large: Counted;
  readonly indexS: number;
  readonly smallThen: Counted;
  readonly largeThen: Counted;
}

/** A count and how long it took. */
export interface Counted {
  readonly rows: number;
  readonly ms: number;
}

export const smallBox: Box = { rank1: 20, rank2: 30, rows: 49 };
export const largeBox: Box = { rank1: 200, rank2: 300, rows: 5759 };

/** rank1 and rank2 below these; how many rows the file has there. */
export interface Box {
  readonly rank1: number;
  readonly rank2: number;
  readonly rows: number;
}

/** Runs a count a few times; the median, and an error when the answer is wrong. */
export async function timedCount(box: Box, count: (box: Box) => Promise<number>): Promise<Counted> {
  const times: number[] = [];
  let rows = 0;
  for (let run = 0; run < 5; run++) {
    const begun = performance.now();
    rows = await count(box);
    times.push(performance.now() - begun);
    if (rows !== box.rows) throw new Error(`${String(rows)} rows where there are ${String(box.rows)}`);
  }
  times.sort((a, b) => a - b);
  return { rows, ms: times[2] ?? 0 };
}
