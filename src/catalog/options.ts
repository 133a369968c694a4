// Options of `create`: what is accepted, what each must be, and how `listCollections` shows it (manual: "create", "Views",
// "Capped Collections", "Schema Validation"). What is not built (time series, clustered `_id`, ...) is refused by name, never left out quietly.

import { BsonArray, describeValue, Document, isNumber, typeNameOf, typeOf } from '../bson/index.ts';
import type { Binary, Value } from '../bson/index.ts';
import { CommandError } from '../base/errors.ts';
import type { DictionaryOptions } from '../engine/index.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import { badValue, invalidOptions, typeMismatch, unknownField } from './refusal.ts';
import { numberOf, toDouble } from './number.ts';
import { parseCollation } from '../collation/index.ts';
import type { Collation } from '../collation/index.ts';
import { checkPrimarySpec, primarySpecOf } from './index-spec.ts';
import type { CollectionOptions } from './types.ts';

const typeText = (value: Value): string => String(typeNameOf(typeOf(value)));
const wrongType = (name: string, value: Value, expected: string): Error =>
  typeMismatch(`BSON field 'create.${name}' is the wrong type '${typeText(value)}', expected type '${expected}'`);

type Check = (value: Value, name: string) => void;

const boolean: Check = (value, name) => {
  if (typeof value !== 'boolean' && !isNumber(value)) throw wrongType(name, value, '[bool, long, int, decimal, double]');
};
const object: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
};
const stages: Check = (value, name) => {
  if (!(value instanceof BsonArray)) throw wrongType(name, value, 'array');
  const wrong = value.items().find((stage) => !(stage instanceof Document));
  if (wrong !== undefined) throw typeMismatch("Each element of the 'pipeline' array must be an object");
};
const string: Check = (value, name) => {
  if (typeof value !== 'string') throw wrongType(name, value, 'string');
};
const number: Check = (value, name) => {
  if (!isNumber(value)) throw wrongType(name, value, '[long, int, decimal, double]');
};
const oneOf =
  (...allowed: readonly string[]): Check =>
  (value, name) => {
    if (typeof value !== 'string') throw wrongType(name, value, 'string');
    if (!allowed.includes(value)) {
      throw badValue(`Enumeration value '${value}' for field 'create.${name}' is not a valid value.`);
    }
  };
const notBuilt: Check = (_value, name) => {
  throw invalidOptions(`the option '${name}' is not supported`);
};
const collation: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  parseCollation(value);
};

/** Every collection is clustered by `_id` here; other keys are not. */
const clusteredById: Check = (value, name) => {
  if (value === true) return;
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  const key = presentField(value, 'key');
  const unique = presentField(value, 'unique');
  if (!(key instanceof Document)) throw wrongType(`${name}.key`, key, 'object');
  if (typeof unique !== 'boolean' && !isNumber(unique)) throw wrongType(`${name}.unique`, unique, '[bool, long, int, decimal, double]');
  if (key.fields.length !== 1 || numberOf(key.get('_id')) !== 1) throw badValue('The clusteredIndex option is only supported for key: {_id: 1}');
  if (!isTrue(unique)) throw badValue('The clusteredIndex option requires unique: true to be specified');
  const version = value.get('v');
  if (version !== undefined && numberOf(version) !== 2) throw new CommandError(5979704, 'Location5979704', 'The only supported version of clusteredIndex is 2');
};

function presentField(value: Document, field: string): Value {
  const found = value.get(field);
  if (found !== undefined && found !== null) return found;
  throw new CommandError(40414, 'IDLFailedToParse', `BSON field 'create.clusteredIndex.${field}' is missing but a required field`);
}

/** The index on `_id` may be described, and is then what it always is. */
const primaryIndex: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  checkPrimarySpec(value);
};

/** Option -> its check. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['capped', boolean],
  ['size', number],
  ['max', number],
  ['autoIndexId', boolean],
  ['idIndex', primaryIndex],
  ['storageEngine', object],
  ['validator', object],
  ['validationLevel', oneOf('off', 'strict', 'moderate')],
  ['validationAction', oneOf('error', 'warn', 'errorAndLog')],
  ['indexOptionDefaults', object],
  ['viewOn', string],
  ['pipeline', stages],
  ['collation', collation],
  ['changeStreamPreAndPostImages', object],
  ['flags', number],
  ['temp', boolean],
  ['timeseries', notBuilt],
  ['expireAfterSeconds', notBuilt],
  ['clusteredIndex', clusteredById],
  ['encryptedFields', notBuilt],
  ['partitioned', notBuilt],
  ['primaryKey', notBuilt],
  ['compression', oneOf('none', 'lz4', 'zlib', 'zstd', 'quicklz', 'lzma')],
  ['pageSize', number],
  ['readPageSize', number],
  ['fanout', number],
]);

/** Accepted and not kept. */
const notKept: ReadonlySet<string> = new Set(['autoIndexId', 'idIndex', 'flags', 'temp']);
/** What only a collection with documents of its own can have. */
const notOfViews = ['capped', 'size', 'max', 'autoIndexId', 'idIndex', 'storageEngine', 'validator', 'validationLevel', 'validationAction', 'indexOptionDefaults'] as const;

/** Checks the options of `create`; gives those that are kept, in the order given. */
export function parseCreateOptions(given: Document): Document {
  const kept: [string, Value][] = [];
  for (const [name, value] of given) {
    const check = checks.get(name);
    if (check === undefined) throw unknownField('create', name);
    if (value === null) continue;
    check(value, name);
    if (notKept.has(name) || value === false || (name === 'capped' && !isTrue(value))) continue;
    const keeping = keptValue(name, value);
    if (keeping !== undefined) kept.push([name, keeping]);
  }
  if (given.has('viewOn') && !given.has('pipeline')) kept.push(['pipeline', BsonArray.empty]);
  const options = Document.fromEntries(kept);
  checkCapped(given, options);
  checkIdIndex(given, options);
  checkView(given, options);
  return options;
}

/** As it is kept; undefined: it means nothing. */
function keptValue(name: string, value: Value): Value | undefined {
  if (name === 'collation') return value instanceof Document ? parseCollation(value)?.spec : undefined;
  return name === 'capped' ? true : name === 'size' || name === 'max' ? wholeNumber(value) : value;
}

/** A number of any type as an int64: cut, NaN as 0, what is too large as the largest. */
function wholeNumber(value: Value): Value {
  const number = numberOf(value);
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (Number.isNaN(number)) return 0;
  return number >= 2 ** 63 ? 2n ** 63n - 1n : number <= -(2 ** 63) ? -(2n ** 63n) : BigInt(Math.trunc(number));
}

function checkCapped(given: Document, options: Document): void {
  const size = given.get('size');
  const capped = isTrue(options.get('capped'));
  if (capped && size === undefined) throw invalidOptions("the 'size' field is required when 'capped' is true");
  if (!capped && size !== undefined && isNumber(size)) throw invalidOptions("the 'capped' field needs to be true when either the 'size' or 'max' fields are present");
  if (!capped && given.has('max')) throw invalidOptions("the 'capped' field needs to be true when either the 'size' or 'max' fields are present");
  if (capped) checkSize(options.get('size'));
  if (numberOf(options.get('max')) >= 2 ** 31) throw badValue('max in a capped collection has to be < 2^31 or not set');
}

/** The index on `_id` has the collation of its collection and no other. */
function checkIdIndex(given: Document, options: Document): void {
  const idIndex = given.get('idIndex');
  if (!(idIndex instanceof Document)) return;
  const asked = idIndex.get('collation');
  const wanted = asked instanceof Document ? parseCollation(asked)?.spec : asked === undefined ? options.get('collation') : undefined;
  if (describeValue(wanted ?? null) === describeValue(options.get('collation') ?? null)) return;
  throw badValue(`The _id index must have the same collation as the collection. Index collation: ${describeValue(asked ?? null)}, collection collation: ${describeValue(options.get('collation') ?? Document.of({ locale: 'simple' }))}`);
}

const cappedBytesMax = 2 ** 50;

function checkSize(size: Value | undefined): void {
  const bytes = numberOf(size);
  const refused = bytes < 1 ? 'must be >= 1' : bytes > cappedBytesMax ? `must be <= ${cappedBytesMax}` : undefined;
  if (refused === undefined) return;
  throw badValue(`BSON field 'size' value ${refused}, actual value '${describeValue(size ?? null)}'`);
}

function checkView(given: Document, options: Document): void {
  const viewOn = options.get('viewOn');
  if (viewOn === undefined) {
    if (options.has('pipeline')) throw invalidOptions("'pipeline' requires 'viewOn' to also be specified");
    return;
  }
  if (viewOn === '') throw badValue("'viewOn' cannot be empty");
  for (const name of notOfViews) {
    if (given.has(name)) throw invalidOptions(`'${name}' is not a valid option for a view`);
  }
}

const isTrue = (value: Value | undefined): boolean => value === true || (value !== undefined && isNumber(value) && toDouble(value) !== 0);

const levels = ['off', 'strict', 'moderate'] as const;

/** The collation of kept options; undefined: the order of bytes. */
export function collationOf(shown: Document): Collation | undefined {
  const spec = shown.get('collation');
  return spec instanceof Document ? parseCollation(spec) : undefined;
}

/** The options of a kept entry, typed. */
export function optionsOf(shown: Document): CollectionOptions {
  const validator = shown.get('validator');
  const level = levels.find((known) => known === shown.get('validationLevel'));
  const action = shown.get('validationAction') === undefined ? undefined : shown.get('validationAction') === 'warn' ? 'warn' : 'error';
  const max = shown.get('max');
  return {
    ...(isTrue(shown.get('capped'))
      ? {
          capped: {
            sizeBytes: numberOf(shown.get('size')),
            ...(max === undefined ? {} : { documentsMax: numberOf(max) }),
          },
        }
      : {}),
    ...(validator instanceof Document ? { validator } : {}),
    ...(level === undefined ? {} : { validationLevel: level }),
    ...(action === undefined ? {} : { validationAction: action }),
    collation: collationOf(shown),
    shown,
  };
}

/** The engine's options for a dictionary from TokuMX's names; what is not said is the engine's. */
export function dictionaryOptionsOf(options: Document): Partial<DictionaryOptions> {
  const compression = options.get('compression');
  const bytes = (name: string): number | undefined => {
    const value = options.get(name);
    return value !== undefined && isNumber(value) ? toDouble(value) : undefined;
  };
  const pageBytes = bytes('pageSize');
  const readPageBytes = bytes('readPageSize');
  const fanout = bytes('fanout');
  return {
    ...(typeof compression === 'string' ? { compression: compressions.get(compression) ?? 'zstd' } : {}),
    ...(pageBytes === undefined ? {} : { pageBytes }),
    ...(readPageBytes === undefined ? {} : { readPageBytes }),
    ...(fanout === undefined ? {} : { fanout }),
  };
}

const compressions: ReadonlyMap<string, DictionaryOptions['compression']> = new Map<string, DictionaryOptions['compression']>([
  ['none', 'none'],
  ['lz4', 'lz4'],
  ['quicklz', 'lz4'],
  ['zlib', 'zlib'],
  ['zstd', 'zstd'],
  ['lzma', 'zstd'],
]);

/** The row of `listCollections`. */
export function describeCollection(ns: Namespace, entry: Extract<NameEntry, { readonly kind: 'collection' }>): Document {
  return Document.of({
    name: ns.collection,
    type: 'collection',
    options: entry.options,
    info: Document.of({ readOnly: false, uuid: entry.uuid satisfies Binary }),
    idIndex: primarySpecOf(collationOf(entry.options)),
  });
}

/** The row of `listCollections` for a view. */
export function describeView(ns: Namespace, options: Document): Document {
  return Document.of({ name: ns.collection, type: 'view', options, info: Document.of({ readOnly: true }) });
}
