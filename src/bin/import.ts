// `frond import`: a file into a collection of a running server, with mongoimport's flags.

import { CommandError, EngineError } from '../base/errors.ts';
import { openHostEnv } from '../env/index.ts';
import { importFile, parseUri } from '../tools/index.ts';
import type { FormatOptions, ImportOptions, ImportProgress, ImportWatcher, ParseGrace } from '../tools/index.ts';
import { FrondUsage } from './usage.ts';

const importUsage = `usage: frond import --collection NAME [options] FILE

  --uri URI              server, as mongodb://127.0.0.1:27017/db
  --db NAME              database (test, or the one in the URI)
  --collection NAME, -c  collection; made when it is not there
  --type csv|tsv|json    format of the file (json: one document after the other)
  --file FILE            the file, instead of the last word
  --headerline           the first line names the columns
  --fields a,b,c         the names of the columns
  --columnsHaveTypes     names are stated with types, as id.int32(),when.date(2006-01-02 15:04:05)
  --parseGrace HOW       what to do with a field that is not of its type: stop, skipField, skipRow, autoCast (stop)
  --ignoreBlanks         leave empty fields out
  --jsonArray            the file is one array of documents
  --drop                 drop the collection first
  --stopOnError          stop at the first fault
  --bulk                 load a new or empty collection past the log, in two thirds of the time: all or nothing, and the documents are
                         not in the oplog (whoever watches the collection hears that it was dropped)
  --numInsertionWorkers N  batches under way at a time (2)

Without stated types a field becomes a number only when nothing of it is lost: no leading zero, no more digits than the number keeps.`;

const valued = ['--uri', '--db', '--collection', '--type', '--file', '--fields', '--parseGrace', '--numInsertionWorkers'];
const plain = ['--headerline', '--columnsHaveTypes', '--ignoreBlanks', '--jsonArray', '--drop', '--stopOnError', '--bulk'];
const short: ReadonlyMap<string, string> = new Map([['-c', '--collection'], ['-d', '--db'], ['-f', '--fields']]);

/** Words into flags and their values; a word alone is the file. */
function readWords(words: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  let left = [...words];
  while (left.length > 0) {
    const [word = '', ...rest] = left;
    const [start = '', ...value] = word.split('=');
    const flag = short.get(start) ?? start;
    left = rest;
    if (plain.includes(flag)) given.set(flag, 'true');
    else if (valued.includes(flag)) {
      const text = value.length > 0 ? value.join('=') : left.shift();
      if (text === undefined) throw new FrondUsage(`${flag} wants a value`);
      given.set(flag, text);
    } else if (word.startsWith('-') || given.has('--file')) throw new FrondUsage(`unknown option ${word}`);
    else given.set('--file', word);
  }
  return given;
}

function formatOf(given: ReadonlyMap<string, string>): FormatOptions {
  const type = given.get('--type') ?? 'json';
  if (type !== 'csv' && type !== 'tsv' && type !== 'json') throw new FrondUsage(`--type is csv, tsv or json, not ${type}`);
  const fields = given.get('--fields')?.split(',');
  const headerLine = given.has('--headerline');
  if (type !== 'json' && (fields === undefined) === !headerLine) throw new FrondUsage(`--type ${type} wants --headerline or --fields, one of them`);
  return {
    type, fields, headerLine, columnsHaveTypes: given.has('--columnsHaveTypes'), ignoreBlanks: given.has('--ignoreBlanks'),
    grace: graceOf(given.get('--parseGrace') ?? 'stop'), jsonArray: given.has('--jsonArray'),
  };
}

function graceOf(text: string): ParseGrace {
  if (text === 'stop' || text === 'skipField' || text === 'skipRow' || text === 'autoCast') return text;
  throw new FrondUsage(`--parseGrace is stop, skipField, skipRow or autoCast, not ${text}`);
}

function importOptions(words: readonly string[]): ImportOptions {
  const given = readWords(words);
  const place = parseUri(given.get('--uri') ?? 'mongodb://127.0.0.1:27017');
  const collection = given.get('--collection');
  const file = given.get('--file');
  const workers = Number(given.get('--numInsertionWorkers') ?? '2');
  if (collection === undefined) throw new FrondUsage('import wants --collection');
  if (file === undefined) throw new FrondUsage('import wants a file');
  if (!Number.isInteger(workers) || workers < 1 || workers > 64) throw new FrondUsage('--numInsertionWorkers is a whole number from 1 to 64');
  const format = formatOf(given);
  return {
    place, collection, file, workers, format, database: given.get('--db') ?? place.database ?? 'test', drop: given.has('--drop'),
    bulk: given.has('--bulk'), stopOnError: given.has('--stopOnError') || (format.columnsHaveTypes && format.grace === 'stop'),
  };
}

const barWidth = 30;

function bar({ bytes, bytesTotal, rows, elapsedMs }: ImportProgress): string {
  const share = bytesTotal === 0 ? 1 : bytes / bytesTotal;
  const full = Math.round(share * barWidth);
  const rate = Math.round(rows / Math.max(0.001, elapsedMs / 1000));
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${(share * 100).toFixed(1)} %  ${rows} rows  ${rate} rows/s`;
}

/** Draws the bar on a terminal twice a second; elsewhere a line every five seconds. Every fault is a line of its own. */
class TerminalWatcher implements ImportWatcher {
  readonly #isTerminal: boolean = process.stderr.isTTY;
  #shownMs: number = Number.NEGATIVE_INFINITY;

  progress(progress: ImportProgress): void {
    const isEnd = progress.bytes === progress.bytesTotal;
    if (!isEnd && progress.elapsedMs - this.#shownMs < (this.#isTerminal ? 500 : 5000)) return;
    this.#shownMs = progress.elapsedMs;
    process.stderr.write(this.#isTerminal ? `\r${bar(progress)}` : `${bar(progress)}\n`);
  }

  fault({ line, message }: { readonly line: number; readonly message: string }): void {
    process.stderr.write(`${this.#isTerminal ? '\r\u001b[K' : ''}line ${line}: ${message}\n`);
  }
}

/** Runs an import; exit status 1 when a record was left out. */
export async function runImport(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(importUsage);
    return 0;
  }
  const options = importOptions(words);
  const env = await openHostEnv();
  try {
    const { inserted, faults, elapsedMs } = await importFile(env, options, new TerminalWatcher());
    const seconds = elapsedMs / 1000;
    console.log(`${process.stderr.isTTY ? '\n' : ''}${inserted} documents into ${options.database}.${options.collection} in ${seconds.toFixed(1)} s, ${Math.round(inserted / seconds)} rows/s, ${faults} faults`);
    return faults === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof EngineError) && !(error instanceof CommandError)) throw error;
    console.error(`frond: ${error.message}`);
    return 1;
  }
}
