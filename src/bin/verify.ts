// `frond verify`: checks a data directory that no server has open.

import { openHostEnv } from '../env/index.ts';
import { verifyDirectory } from '../tools/index.ts';
import { reportingRefusal } from './directory-words.ts';
import { serveOptions } from './server-options.ts';

/** Prints what was looked at and every problem; exit status 1 when there is one. */
export async function runVerify(words: readonly string[]): Promise<number> {
  const env = await openHostEnv();
  const { dbPath, cacheBytes } = await serveOptions(env, words);
  return await reportingRefusal(dbPath, async () => {
    const { problems, dictionaries, blocks, collections, documents, entries } = await verifyDirectory(env, dbPath, cacheBytes);
    for (const problem of problems) console.error(problem);
    console.log(`${dictionaries} dictionaries, ${blocks} blocks, ${collections} collections, ${documents} documents, ${entries} index entries: ${problems.length === 0 ? 'no problem' : `${problems.length} problems`}`);
    return problems.length === 0 ? 0 : 1;
  });
}
