// `frond salvage`: everything that can be read of a damaged data directory, into a fresh one.

import { openHostEnv } from '../env/index.ts';
import { salvageDirectory } from '../tools/index.ts';
import { readDirectoryWords, reportingRefusal } from './directory-words.ts';
import { parseBytes } from './option-table.ts';
import { FrondUsage } from './usage.ts';

/** Prints every loss and what was copied; exit status 0 when nothing was lost, 1 when something was, or nothing could be read. */
export async function runSalvage(words: readonly string[]): Promise<number> {
  const given = readDirectoryWords(words, ['dbpath', 'to', 'cache']);
  const from = given.get('dbpath') ?? './data';
  const to = given.get('to');
  if (to === undefined) throw new FrondUsage('salvage wants --to DIR, a directory without data');
  const cacheBytes = parseBytes(given.get('cache') ?? '256MB', '--cache');
  const env = await openHostEnv();
  return await reportingRefusal(from, async () => {
    const { losses, collections, views, documents, indexes } = await salvageDirectory(env, { from, to, cacheBytes });
    for (const loss of losses) console.error(loss);
    console.log(`${collections} collections, ${views} views, ${documents} documents, ${indexes} indexes are in ${to}; ${losses.length === 0 ? 'nothing is lost' : `${losses.length} losses`}`);
    return losses.length === 0 ? 0 : 1;
  });
}
