// How a collection or an index is kept on disk, in TokuMX's words: `compression`, `pageSize`, `readPageSize`, `fanout`, as such or under
// `storageEngine.frond`. Sizes are numbers of bytes or quantities as "64k", "4MB". Options are kept and listed as they were given.

import { describeValue, Document, isNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { DictionaryOptions } from '../engine/index.ts';
import { toDouble } from './number.ts';
import { badValue, typeMismatch } from './refusal.ts';

/** Names of codecs: the engine's own, and those of TokuMX. */
const compressions: ReadonlyMap<string, DictionaryOptions['compression']> = new Map<string, DictionaryOptions['compression']>([
  ['none', 'none'],
  ['lz4', 'lz4'],
  ['zlib', 'zlib'],
  ['zstd', 'zstd'],
  ['quicklz', 'lz4'],
  ['lzma', 'zstd'],
  ['fast', 'lz4'],
  ['small', 'zstd'],
  ['default', 'zstd'],
]);

const KiB = 1024;
const units: ReadonlyMap<string, number> = new Map([['', 1], ['b', 1], ['k', KiB], ['kb', KiB], ['m', KiB ** 2], ['mb', KiB ** 2], ['g', KiB ** 3], ['gb', KiB ** 3]]);

/** The number of bytes that a value stands for; undefined: it is no quantity. */
function quantityOf(value: Value): number | undefined {
  if (isNumber(value)) return toDouble(value);
  const found = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim()) : null;
  const unit = units.get(found?.[2]?.toLowerCase() ?? '?');
  return found === null || unit === undefined ? undefined : Number(found[1]) * unit;
}

interface NumberOption {
  readonly engine: 'pageBytes' | 'readPageBytes' | 'fanout';
  readonly least: number;
  readonly most: number;
}

const numberOptions: ReadonlyMap<string, NumberOption> = new Map<string, NumberOption>([
  ['pageSize', { engine: 'pageBytes', least: KiB, most: 16 * KiB ** 2 }],
  ['readPageSize', { engine: 'readPageBytes', least: 512, most: KiB ** 2 }],
  ['fanout', { engine: 'fanout', least: 4, most: 64 }],
]);

/** The names of all these options. */
export const dictionaryOptionNames: readonly string[] = ['compression', ...numberOptions.keys()];

/** Throws 14 where the value is of no type that the option has, 2 where it is out of bounds. `at`: what the option is called in texts. */
export function checkDictionaryOption(name: string, value: Value, at: string): void {
  if (name === 'compression') {
    if (typeof value !== 'string') throw typeMismatch(`'${at}' is the name of a compression, not ${describeValue(value)}`);
    if (!compressions.has(value)) throw badValue(`'${at}' is one of ${[...compressions.keys()].join(', ')}, not ${describeValue(value)}`);
    return;
  }
  const option = numberOptions.get(name);
  if (option === undefined) return;
  if (!isNumber(value) && typeof value !== 'string') throw typeMismatch(`'${at}' is a number or a quantity, not ${describeValue(value)}`);
  const quantity = quantityOf(value);
  if (quantity !== undefined && Number.isInteger(quantity) && quantity >= option.least && quantity <= option.most) return;
  throw badValue(`'${at}' must be a whole number from ${option.least} to ${option.most}, not ${describeValue(value)}`);
}

/** An option of this engine: as such, or under `storageEngine.frond`. */
export function engineOption(options: Document, name: string): Value | undefined {
  const direct = options.get(name);
  if (direct !== undefined) return direct;
  const engines = options.get('storageEngine');
  const own = engines instanceof Document ? engines.get('frond') : undefined;
  return own instanceof Document ? own.get(name) : undefined;
}

/** The engine's options for a dictionary; what is not said is the engine's. */
export function dictionaryOptionsOf(options: Document): Partial<DictionaryOptions> {
  const compression = engineOption(options, 'compression');
  const found: Partial<Record<NumberOption['engine'], number>> = {};
  for (const [name, { engine }] of numberOptions) {
    const value = engineOption(options, name);
    const quantity = value === undefined ? undefined : quantityOf(value);
    if (quantity !== undefined) found[engine] = quantity;
  }
  return { ...(typeof compression === 'string' ? { compression: compressions.get(compression) ?? 'zstd' } : {}), ...found };
}

/** The engine's options for an index. Its entries are written under the locks of their documents, so none of them may lie beside the tree. */
export function indexDictionaryOptionsOf(spec: Document): Partial<DictionaryOptions> {
  return { ...dictionaryOptionsOf(spec), ...smallValues };
}

/** Of a dictionary whose keys others' locks cover. */
export const smallValues: Partial<DictionaryOptions> = { largeValueBytes: 0 };

/** How a dictionary is kept, under TokuMX's names. */
export function describeDictionaryOptions({ compression, pageBytes, readPageBytes, fanout }: DictionaryOptions): Document {
  return Document.of({ compression, pageSize: pageBytes, readPageSize: readPageBytes, fanout });
}
