// `frond inspect`: a data directory in words.

import { openHostEnv } from '../env/index.ts';
import { inspectData } from '../tools/index.ts';
import { readDirectoryWords, reportingRefusal } from './directory-words.ts';

/** Prints superblocks, dictionaries and log; exit status 1 when the directory cannot be read. */
export async function runInspect(words: readonly string[]): Promise<number> {
  const path = readDirectoryWords(words, ['dbpath']).get('dbpath') ?? './data';
  const env = await openHostEnv();
  return await reportingRefusal(path, async () => {
    for await (const line of inspectData(env, path)) console.log(line);
    return 0;
  });
}
