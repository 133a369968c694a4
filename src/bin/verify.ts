// `frond verify`: checks a data directory that no server has open, or, with `--uri`, the files of a running server.

import { CommandError } from '../base/errors.ts';
import { openHostEnv } from '../env/index.ts';
import { parseUri, verifyDirectory, verifyServer } from '../tools/index.ts';
import { readDirectoryWords, reportingRefusal } from './directory-words.ts';
import { serveOptions } from './server-options.ts';

/** Prints what was looked at and every problem; exit status 1 when there is one. */
export async function runVerify(words: readonly string[]): Promise<number> {
  if (words.some((word) => word === '--uri' || word.startsWith('--uri='))) return await verifyRunning(words);
  const env = await openHostEnv();
  const { dbPath, cacheBytes } = await serveOptions(env, words);
  return await reportingRefusal(dbPath, async () => {
    const { problems, dictionaries, blocks, collections, documents, entries } = await verifyDirectory(env, dbPath, cacheBytes);
    for (const problem of problems) console.error(problem);
    console.log(`${dictionaries} dictionaries, ${blocks} blocks, ${collections} collections, ${documents} documents, ${entries} index entries: ${problems.length === 0 ? 'no problem' : `${problems.length} problems`}`);
    return problems.length === 0 ? 0 : 1;
  });
}

/** The same of a running server: its blocks; documents and index entries are compared by the command `validate`. */
async function verifyRunning(words: readonly string[]): Promise<number> {
  const uri = readDirectoryWords(words, ['uri']).get('uri') ?? '';
  return await reportingRefusal(uri, async () => {
    try {
      const { problems, dictionaries, blocks } = await verifyServer(parseUri(uri));
      for (const problem of problems) console.error(problem);
      console.log(`${dictionaries} dictionaries, ${blocks} blocks: ${problems.length === 0 ? 'no problem' : `${problems.length} problems`}`);
      return problems.length === 0 ? 0 : 1;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      console.error(`frond: ${error.message}`);
      return 1;
    }
  });
}
