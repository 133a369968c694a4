// What `frond help` says: one table of the commands and their options, so that no page about them can differ from another. The options of `serve` are those
// of `option-table.ts`, which also reads them; `import` and `bench append` tell of theirs themselves.

import { describeOptions } from './option-table.ts';

/** One option of a command. */
interface OptionLine {
  readonly flag: string;
  readonly doc: string;
}

/** One command in words. */
interface ManualPage {
  /** One line, for the list of all. */
  readonly doc: string;
  /** What stands behind `frond NAME`. */
  readonly synopsis: string;
  readonly options: readonly OptionLine[] | (() => string);
}

const dbPath: OptionLine = { flag: '--dbpath DIR', doc: 'the data directory, which no server has open (./data)' };
const cache: OptionLine = { flag: '--cache SIZE', doc: 'memory to use, as 64MB or 2GB' };
const freshDirectory: OptionLine = { flag: '--to DIR', doc: 'where to; made when it is not there, refused when it has data' };

/** Commands by name, in the order in which they are listed. */
export const manualPages: ReadonlyMap<string, ManualPage> = new Map([
  ['serve', { doc: 'run the server and the gateway', synopsis: '[options]', options: () => `${describeOptions()}\n  --config FILE\n      a YAML file with the settings named above` }],
  ['gateway', {
    doc: 'run the gateway in front of another MongoDB server', synopsis: '--mongo URI [options]', options: [
      { flag: '--mongo URI', doc: 'the server, as mongodb://127.0.0.1:27017' },
      { flag: '--port PORT', doc: 'port to listen at; 0 picks a free one (8027)' },
      { flag: '--bind HOST', doc: 'address to listen at (127.0.0.1)' },
      { flag: '--db NAME', doc: 'database whose buckets are served (test)' },
      { flag: '--login database', doc: 'ask for users of that server' },
      { flag: '--tokens FILE', doc: 'tokens: a line each of the token, its rights (read, write, status, by commas) and perhaps a database' },
      { flag: '--signing-key FILE', doc: 'its bytes sign addresses; without it they are valid until the gateway stops' },
      { flag: '--origins LIST', doc: 'origins whose pages may read, by commas' },
    ],
  }],
  ['verify', { doc: 'check a data directory, or every block of a running server', synopsis: '[options]', options: [dbPath, cache, { flag: '--uri URI', doc: 'a running server, in place of a directory' }] }],
  ['backup', {
    doc: 'copy the data of a running server while it goes on', synopsis: '--to DIR [options]', options: [
      { ...freshDirectory, doc: 'an empty directory of the machine that the server runs on' },
      { flag: '--uri URI', doc: 'the server (mongodb://127.0.0.1:27017)' },
    ],
  }],
  ['salvage', { doc: 'copy all that can be read of a damaged data directory into a fresh one', synopsis: '--to DIR [options]', options: [dbPath, freshDirectory, cache] }],
  ['inspect', { doc: 'a data directory in words: superblocks, trees and log', synopsis: '[options]', options: [dbPath] }],
  ['bench', {
    doc: 'measure this disk: bench append, bench gridfs', synopsis: 'append | gridfs [options]', options: [
      { flag: 'append', doc: 'what each way to write the log costs; frond bench append --help tells its options' },
      { flag: 'gridfs', doc: 'what sizes of chunks and reads cost, with these options:' },
      { flag: '--files N', doc: 'files of each chunk size (2)' },
      { flag: '--size SIZE', doc: 'bytes of a file (64MB)' },
      { flag: '--chunks LIST', doc: 'chunk sizes, by commas (256KB to 8MB)' },
      { flag: '--reads LIST', doc: 'read sizes, by commas (8KB to 1MB)' },
      { flag: '--rounds N', doc: 'how often each size has its turn (3); medians are told' },
      { ...cache, doc: 'memory of the storage (256MB)' },
      { flag: '--dir DIR', doc: 'directory on the disk that is measured (that of temporary files)' },
      { flag: '--mongo URI', doc: 'another server, instead of storage of its own; --db NAME is the database there (test)' },
    ],
  }],
  ['import', { doc: 'CSV, TSV or JSON into a collection', synopsis: '--collection NAME [options] FILE', options: [{ flag: '--help', doc: 'tells its options' }] }],
]);

/** All commands, a line each. */
export function describeCommands(): string {
  const list = [...manualPages].map(([name, { doc }]) => `  ${name.padEnd(10)} ${doc}`);
  return ['usage: frond COMMAND [options]', '', ...list, '', 'frond help COMMAND tells the options of one; frond --version tells which frond this is.'].join('\n');
}

/** One command with its options. */
export function describeCommand(name: string, { doc, synopsis, options }: ManualPage): string {
  const lines = typeof options === 'function' ? options() : options.map(({ flag, doc: text }) => `  ${flag.padEnd(20)} ${text}`).join('\n');
  return `usage: frond ${name} ${synopsis}\n\n${doc}\n\n${lines}`;
}
