// `frond bench append`: what each way to write the log costs on this disk, made by the parts of the product themselves.

import { openHostEnv } from '../env/index.ts';
import { appendSizes, benchAppend } from '../tools/index.ts';
import { FrondUsage } from './usage.ts';

/** An option of `frond bench append`. */
interface BenchOption {
  readonly flag: string;
  readonly fallback: string;
  readonly doc: string;
}

const appendOptions: readonly BenchOption[] = [
  { flag: '--dir', fallback: '.', doc: 'directory on the disk that is measured' },
  { flag: '--count', fallback: '1024', doc: 'writes of each size by each writer' },
  { flag: '--sizes', fallback: appendSizes.join(), doc: 'bytes of a record, by commas' },
];

const help = (): string => `usage: frond bench append [options]\n\n${appendOptions.map(({ flag, fallback, doc }) => `  ${flag.padEnd(10)} ${doc} (${fallback})`).join('\n')}`;

/** Prints the report of the bench. */
export async function runAppendBench(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(help());
    return 0;
  }
  const given = readWords(words);
  const count = wholeNumber(given.get('--count') ?? '', '--count');
  const sizes = (given.get('--sizes') ?? '').split(',').map((size) => wholeNumber(size, '--sizes'));
  for await (const line of benchAppend(await openHostEnv(), { directory: given.get('--dir') ?? '.', count, sizes })) console.log(line);
  return 0;
}

function readWords(words: readonly string[]): Map<string, string> {
  const given = new Map(appendOptions.map(({ flag, fallback }) => [flag, fallback]));
  for (let i = 0; i < words.length; i += 2) {
    const [flag = '', value] = [words[i], words[i + 1]];
    if (!given.has(flag)) throw new FrondUsage(`unknown option ${flag} of bench append; it has ${appendOptions.map((option) => option.flag).join(', ')}`);
    if (value === undefined) throw new FrondUsage(`${flag} wants a value`);
    given.set(flag, value);
  }
  return given;
}

function wholeNumber(text: string, flag: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 64 * 1024 * 1024) throw new FrondUsage(`${flag} wants whole numbers from 1 to 67108864, not ${text}`);
  return value;
}
