// `frond backup`: a directory that opens, of a server that goes on.

import { resolve } from 'node:path';
import { CommandError, EngineError } from '../base/errors.ts';
import { backUpServer, parseUri } from '../tools/index.ts';
import { readDirectoryWords } from './directory-words.ts';
import { FrondUsage } from './usage.ts';

/** Prints what was copied; exit status 1 when the server refuses or is not there. */
export async function runBackup(words: readonly string[]): Promise<number> {
  const given = readDirectoryWords(words, ['uri', 'to']);
  const to = given.get('to');
  if (to === undefined) throw new FrondUsage('backup wants --to DIR, an empty directory');
  const target = resolve(to);
  try {
    const { dataBytes, logBytes } = await backUpServer(parseUri(given.get('uri') ?? 'mongodb://127.0.0.1:27017'), target);
    console.log(`${dataBytes} bytes of data and ${logBytes} bytes of log are in ${target}; frond serve --dbpath opens it`);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError) && !(error instanceof EngineError)) throw error;
    console.error(`frond: ${error.message}`);
    return 1;
  }
}
