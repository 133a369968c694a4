// A bench is a function with two sets of parameters: the large one is measured by `npm run bench`, the small one runs as a test, so that no bench
// rots. Its result has a checksum, so that the work can neither be optimised away nor changed unseen. Two figures are compared within one run only.

/** What one run did. */
export interface Work {
  readonly operations: number;
  readonly bytes: number;
  /** A number that follows from the result: equal in every run with the same parameters. */
  readonly checksum: number;
}

export interface Bench<P extends object = object> {
  readonly name: string;
  readonly small: P;
  readonly large: readonly P[];
  /** Makes what a run needs and is not measured; the function returned is measured, and may be called again. */
  readonly prepare: (parameters: P) => Run | Prepared | Promise<Run | Prepared>;
}

/** The measured part. */
export type Run = () => Work | Promise<Work>;

/** A measured part that stands on something which must be closed behind it. */
export interface Prepared {
  readonly run: Run;
  readonly close: () => Promise<void>;
}

interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** One line of output. */
export interface Measurement extends Work {
  readonly name: string;
  readonly parameters: object;
  readonly runs: number;
  readonly nsPerOperation: Spread;
  /** Processor time of this process, all threads: steadier than the time it took where the machine has other work. */
  readonly cpuNsPerOperation: Spread;
}

/** Widens a bench to the type in which a file exports its list. */
export function bench<P extends object>(definition: Bench<P>): Bench {
  return { ...definition, prepare: (parameters) => definition.prepare(parameters as P) };
}

/** Runs a bench `runs` times after one run to warm up; the same parameters must give the same checksum each time. */
export async function measure(definition: Bench, parameters: object, runs: number): Promise<Measurement> {
  const prepared = await definition.prepare(parameters);
  const { run, close } = typeof prepared === 'function' ? { run: prepared, close: undefined } : prepared;
  try {
    const first = await run();
    const times: number[] = [];
    const cpuTimes: number[] = [];
    for (let i = 0; i < runs; i++) {
      const startedMs = performance.now();
      const before = process.cpuUsage();
      const { checksum } = await run();
      const { user, system } = process.cpuUsage(before);
      times.push(((performance.now() - startedMs) * 1e6) / first.operations);
      cpuTimes.push(((user + system) * 1e3) / first.operations);
      if (checksum !== first.checksum) throw new Error(`${definition.name}: checksum ${checksum} after ${first.checksum}`);
    }
    return { name: definition.name, parameters, runs, nsPerOperation: spreadOf(times), cpuNsPerOperation: spreadOf(cpuTimes), ...first };
  } finally {
    await close?.();
  }
}

function spreadOf(values: number[]): Spread {
  values.sort((a, b) => a - b);
  const at = (share: number): number => Number((values[Math.round((values.length - 1) * share)] ?? 0).toPrecision(4));
  return { min: at(0), median: at(0.5), max: at(1) };
}
