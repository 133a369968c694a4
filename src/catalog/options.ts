// Options of `create`: what is accepted, what each must be, and how `listCollections` shows it (manual: "create", "Views",
// "Capped Collections", "Schema Validation"). What is not built (time series, clustered `_id`, ...) is refused by name, never left out quietly.

import { BsonArray, describeValue, Document, fitsInt32, isNumber } from '../bson/index.ts';
import type { Binary, Value } from '../bson/index.ts';
import { checkDictionaryOption, dictionaryOptionNames } from './dictionary-option.ts';
import { checkClusteredWith, parseClusteredIndex } from './clustered-option.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import { parseCollation } from '../collation/index.ts';
import type { Collation } from '../collation/index.ts';
import { checkPrimarySpec, primarySpecOf } from './index-spec.ts';
import { numberOf, wholeOf } from './number.ts';
import { checkPrimaryKey, checkPrimaryKeyWith } from './primary-key.ts';
import { boolean, images, isTrue, number, object, oneOf, stages, string, wrongType } from './option-check.ts';
import type { Check } from './option-check.ts';
import { badValue, invalidOptions, location, unknownField } from './refusal.ts';
import { indexOptionDefaults, storageEngine } from './storage-engine-option.ts';
import { checkTimeSeriesWith, parseTimeSeries, timeSeriesOf } from './time-series.ts';
import type { CollectionOptions } from './types.ts';

const notBuilt: Check = (_value, name) => {
  throw invalidOptions(`the option '${name}' is not supported`);
};
const collation: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  parseCollation(value);
};

/** The index on `_id` may be described, and is then what it always is. */
const primaryIndex: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  checkPrimarySpec(value);
};

/** Checked where it is made what is kept. */
const later: Check = () => undefined;

/** Option -> its check. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['capped', boolean],
  ['size', number],
  ['max', number],
  ['autoIndexId', boolean],
  ['idIndex', primaryIndex],
  ['storageEngine', storageEngine],
  ['validator', object],
  ['validationLevel', oneOf('off', 'strict', 'moderate')],
  ['validationAction', oneOf('error', 'warn', 'errorAndLog')],
  ['indexOptionDefaults', indexOptionDefaults],
  ['viewOn', string],
  ['pipeline', stages],
  ['collation', collation],
  ['changeStreamPreAndPostImages', images],
  ['flags', number],
  ['temp', boolean],
  ['timeseries', later],
  ['expireAfterSeconds', number],
  ['clusteredIndex', later],
  ['encryptedFields', notBuilt],
  ['partitioned', boolean],
  ['primaryKey', checkPrimaryKey],
  ...dictionaryOptionNames.map((name): [string, Check] => [name, (value) => checkDictionaryOption(name, value, `create.${name}`)]),
]);

/** Accepted and not kept. */
const notKept: ReadonlySet<string> = new Set(['autoIndexId', 'idIndex', 'flags', 'temp']);
/** What a view may be told, and does not keep. */
const notKeptByViews: ReadonlySet<string> = new Set(
  ['capped', 'size', 'max', 'autoIndexId', 'storageEngine', 'validator', 'validationLevel', 'validationAction', 'indexOptionDefaults', 'changeStreamPreAndPostImages'],
);

/** Checks the options of `create`; gives those that are kept, in the order given. `nowSeconds`: what no time to live may be beyond. */
export function parseCreateOptions(given: Document, nowSeconds: number): Document {
  const isView = typeof given.get('viewOn') === 'string';
  const kept: [string, Value][] = [];
  for (const [name, value] of given) {
    const check = checks.get(name);
    if (check === undefined) throw unknownField('create', name);
    if (value === null && name !== 'clusteredIndex') continue;
    check(value, name);
    const shown = keptValue(name, value);
    if (shown !== undefined && !notKept.has(name) && !(isView && notKeptByViews.has(name))) kept.push([name, shown]);
  }
  if (isView && !given.has('pipeline')) kept.push(['pipeline', BsonArray.empty]);
  const options = Document.fromEntries(kept);
  checkClusteredWith(given);
  checkPrimaryKeyWith(given);
  checkPartitionedWith(given);
  checkTimeSeriesWith(given);
  if (isTrue(given.get('capped')) && given.get('size') === undefined) throw invalidOptions("the 'size' field is required when 'capped' is true");
  if (!isView) checkCapped(given, options);
  checkIdIndex(given, options);
  checkView(given, options);
  checkExpiry(given, options, nowSeconds);
  return options;
}

const whole = (value: Value): Value => (isNumber(value) && typeof value !== 'number' ? wholeOf(value) : value);

/** Options that are not kept as they were given; undefined: not at all. */
const keptForms: ReadonlyMap<string, (value: Value) => Value | undefined> = new Map<string, (value: Value) => Value | undefined>([
  ['capped', (value) => (isTrue(value) ? true : undefined)],
  ['partitioned', (value) => (isTrue(value) ? true : undefined)],
  ['clusteredIndex', parseClusteredIndex],
  ['timeseries', parseTimeSeries],
  ['pipeline', (value) => (value instanceof BsonArray ? BsonArray.of(value.items().filter((stage) => stage !== null)) : value)],
  ['collation', (value) => (value instanceof Document ? parseCollation(value)?.spec : undefined)],
  ['storageEngine', (value) => (value instanceof Document && value.isEmpty ? undefined : value)],
  ['expireAfterSeconds', (value) => (isNumber(value) ? wholeOf(value) : value)],
  ['size', whole],
  ['max', whole],
]);

/** How an option is kept; undefined: not at all. */
function keptValue(name: string, value: Value): Value | undefined {
  if (value === false) return undefined;
  const form = keptForms.get(name);
  return form === undefined ? value : form(value);
}

/** What a partitioned collection cannot be. */
function checkPartitionedWith(given: Document): void {
  if (!isTrue(given.get('partitioned'))) return;
  if (isTrue(given.get('capped'))) throw location(17266, 'Partitioned Collection cannot be capped');
  for (const other of ['viewOn', 'timeseries', 'clusteredIndex']) if (given.has(other)) throw invalidOptions(`the options 'partitioned' and '${other}' exclude each other`);
}

/** Collections whose documents have a time of their own can be told how long to keep them. */
function checkExpiry(given: Document, options: Document, nowSeconds: number): void {
  const seconds = options.get('expireAfterSeconds');
  if (seconds === undefined) return;
  if (!options.has('timeseries') && !options.has('clusteredIndex')) {
    throw invalidOptions("'expireAfterSeconds' is only supported on time-series collections or when the 'clusteredIndex' option is specified");
  }
  if (given.has('viewOn')) throw invalidOptions("'expireAfterSeconds' is not supported on views");
  const number = numberOf(seconds);
  if (number < 0) throw invalidOptions("TTL index 'expireAfterSeconds' option cannot be less than 0");
  if (number > nowSeconds) throw invalidOptions(`TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number. expireAfterSeconds: ${String(number)}`);
}

function checkCapped(given: Document, options: Document): void {
  const size = given.get('size');
  const capped = isTrue(options.get('capped'));
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
  if ((given.get('idIndex') ?? null) !== null) throw invalidOptions("'idIndex' is not allowed with 'viewOn'");
  const asked = given.get('changeStreamPreAndPostImages');
  if (asked instanceof Document && asked.get('enabled') === true) throw invalidOptions("option not supported on a view: changeStreamPreAndPostImages");
}

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
  const timeSeries = timeSeriesOf(shown);
  const expireAfterSeconds = shown.get('expireAfterSeconds');
  return {
    ...(timeSeries === undefined ? {} : { timeSeries }),
    ...(expireAfterSeconds === undefined ? {} : { expireAfterSeconds: numberOf(expireAfterSeconds) }),
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
    ...(imagesOf(shown) ? { keepsImages: true } : {}),
    shown,
  };
}

function imagesOf(shown: Document): boolean {
  const images = shown.get('changeStreamPreAndPostImages');
  return images instanceof Document && images.get('enabled') === true;
}

/** The row of `listCollections`. */
export function describeCollection(ns: Namespace, entry: Extract<NameEntry, { readonly kind: 'collection' }>): Document {
  return Document.of({
    name: ns.collection,
    type: entry.options.has('timeseries') ? 'timeseries' : 'collection',
    options: Document.fromEntries(entry.options.fields.map(([name, value]) => [name, sizes.has(name) && typeof value === 'bigint' && fitsInt32(value) ? Number(value) : value])),
    info: Document.of({ readOnly: false, uuid: entry.options.has('timeseries') ? undefined : (entry.uuid satisfies Binary) }),
    idIndex: entry.options.has('timeseries') || entry.options.has('clusteredIndex') ? undefined : primarySpecOf(collationOf(entry.options)),
  });
}

/** Options that are shown as small numbers where they are. */
const sizes: ReadonlySet<string> = new Set(['size', 'max']);

/** The row of `listCollections` for a view. */
export function describeView(ns: Namespace, options: Document): Document {
  return Document.of({ name: ns.collection, type: 'view', options, info: Document.of({ readOnly: true }) });
}
