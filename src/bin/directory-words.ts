// Words of the commands that work on a data directory that no server has open, and what they say when they cannot.

import { parseArgs } from 'node:util';
import { EngineError } from '../base/errors.ts';
import { FrondUsage } from './usage.ts';

/** Values of flags that each take one; an unknown word is FrondUsage. */
export function readDirectoryWords(words: readonly string[], flags: readonly string[]): ReadonlyMap<string, string> {
  try {
    const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'string' as const }]));
    const { values } = parseArgs({ args: [...words], options, strict: true, allowPositionals: false });
    return new Map(Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch (cause) {
    throw new FrondUsage(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Runs `work`; what the engine refuses is one line and exit status 1. */
export async function reportingRefusal(path: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const pid = error.code === 'locked' ? error.place.pid : undefined;
    console.error(`frond: ${pid === undefined ? error.message : `the data directory ${path} is in use by process ${pid}`}`);
    return 1;
  }
}
