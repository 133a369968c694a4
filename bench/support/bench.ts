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
  readonly prepare: (parameters: P) => Run | Promise<Run>;
}

/** The measured part. */
export type Run = () => Work | Promise<Work>;

/** One line of output. */
export interface Measurement extends Work {
  readonly name: string;
  readonly parameters: object;
  readonly runs: number;
  readonly nsPerOperation: { readonly min: number; readonly median: number; readonly max: number };
}

/** Widens a bench to the type in which a file exports its list. */
export function bench<P extends object>(definition: Bench<P>): Bench {
  return { ...definition, prepare: (parameters) => definition.prepare(parameters as P) };
}

/** Runs a bench `runs` times after one run to warm up; the same parameters must give the same checksum each time. */
export async function measure(definition: Bench, parameters: object, runs: number): Promise<Measurement> {
  const run = await definition.prepare(parameters);
  const first = await run();
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const startedMs = performance.now();
    const { checksum } = await run();
    times.push(((performance.now() - startedMs) * 1e6) / first.operations);
    if (checksum !== first.checksum) throw new Error(`${definition.name}: checksum ${checksum} after ${first.checksum}`);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => Number((times[Math.round((times.length - 1) * share)] as number).toPrecision(4));
  return { name: definition.name, parameters, runs, nsPerOperation: { min: at(0), median: at(0.5), max: at(1) }, ...first };
}
