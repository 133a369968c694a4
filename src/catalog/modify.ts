// What `collMod` changes: validation and options of a collection, the pipeline of a view, and of one index its time to live, whether plans
// see it and whether it takes further duplicates (manual: "collMod"). Pure: from the entry as it is to the entry as it will be.

import { CommandError } from '../base/errors.ts';
import { describeValue, Document, isNumber, typeNameOf, typeOf } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { NameEntry } from './entry.ts';
import { defineIndex, equalKeys, primaryKeyPattern } from './index-spec.ts';
import type { Namespace } from './namespace.ts';
import { numberOf, wholeOf } from './number.ts';
import { parseCreateOptions } from './options.ts';
import { modifiedTimeSeries } from './time-series.ts';
import { badValue, indexNotFound, invalidOptions, location, typeMismatch, unknownField } from './refusal.ts';

/** The entry after the change, and what the reply says of it. */
export interface Modification {
  readonly entry: NameEntry;
  readonly reply: Document;
  /** The name of an index that is to be made unique, which takes more than another entry. */
  readonly unique?: string;
}

const ofCollections: ReadonlySet<string> = new Set([
  'validator',
  'validationLevel',
  'validationAction',
  'index',
  'changeStreamPreAndPostImages',
  'cappedSize',
  'cappedMax',
  'timeseries',
  'expireAfterSeconds',
]);
/** What a time series lets be changed. */
const ofTimeSeries: ReadonlySet<string> = new Set(['index', 'timeseries', 'expireAfterSeconds']);
/** What means nothing to it. */
const ignoredBySeries: ReadonlySet<string> = new Set(['cappedSize', 'cappedMax']);
const ofViews: ReadonlySet<string> = new Set(['viewOn', 'pipeline']);

type CollectionEntry = Extract<NameEntry, { readonly kind: 'collection' }>;

/** The changes, and the time by which a time to live is judged. */
export interface AskedChanges {
  readonly changes: Document;
  readonly nowSeconds: number;
}

/** The entry changed as asked; 72, 27, 14, 40415 for what cannot be. */
export function modifyEntry(ns: Namespace, entry: NameEntry, asked: AskedChanges): Modification {
  const isSeries = entry.kind === 'collection' && entry.options.has('timeseries');
  const changes = Document.fromEntries(asked.changes.fields.filter(([name, value]) => name !== 'dryRun' && value !== null && !(isSeries && ignoredBySeries.has(name))));
  if (isSeries && asked.changes.get('expireAfterSeconds') === null) throw wrongType('expireAfterSeconds', null, '[string, long, int, decimal, double]');
  checkAllowed(entry, changes);
  const made = changes.get('index');
  if (isDryRun(asked.changes) && !(made instanceof Document && isAsked(made.get('unique')))) throw invalidOptions('dryRun mode can only be used for converting an index to unique');
  if (entry.kind === 'view') return { entry: modifyView(changes, entry.options, asked.nowSeconds), reply: Document.empty };
  const index = changes.get('index');
  const plain = changes.fields.filter(([name]) => name !== 'index').flatMap((change) => changedOption(entry, change));
  const modified = plain.length === 0 ? entry : { ...entry, options: merged(entry.options, plain, asked.nowSeconds) };
  return index === undefined ? { entry: modified, reply: Document.empty } : modifyIndex(ns, modified, index);
}

/** Whether the index is only to be looked at. */
export function isDryRun(changes: Document): boolean {
  return isAsked(changes.get('dryRun'));
}

function isAsked(value: Value | undefined): boolean {
  return value === true || (value !== undefined && value !== null && isNumber(value) && numberOf(value) !== 0);
}

function checkAllowed(entry: NameEntry, changes: Document): void {
  const isTimeSeries = entry.kind === 'collection' && entry.options.has('timeseries');
  for (const name of changes.keys()) {
    if (!ofCollections.has(name) && !ofViews.has(name)) throw unknownField('collMod', name);
    const fits = entry.kind === 'view' ? ofViews : isTimeSeries ? ofTimeSeries : ofCollections;
    if (!fits.has(name)) throw invalidOptions(`option not supported on a ${isTimeSeries ? 'time-series collection' : entry.kind}: ${name}`);
  }
}

/** What becomes of the options by one change. */
function changedOption(entry: CollectionEntry, change: readonly [string, Value]): readonly (readonly [string, Value])[] {
  const [name, value] = change;
  if (name === 'timeseries') {
    const before = entry.options.get('timeseries');
    if (!(before instanceof Document)) throw invalidOptions('option only supported on a time-series collection: timeseries');
    return [[name, modifiedTimeSeries(before, value)]];
  }
  if (name !== 'expireAfterSeconds') return [cappedOption(entry, change)];
  if (typeof value === 'string' && value !== 'off') throw invalidOptions(`expireAfterSeconds must be a number or 'off', not '${value}'`);
  if (typeof value === 'string') return entry.options.has('timeseries') || entry.options.has('clusteredIndex') ? [[name, null]] : [[name, 0]];
  return [change];
}

/** `cappedSize` and `cappedMax` are `size` and `max` of the collection, which must be capped. */
function cappedOption(entry: CollectionEntry, change: readonly [string, Value]): readonly [string, Value] {
  const [name, value] = change;
  if (name !== 'cappedSize' && name !== 'cappedMax') return change;
  if (entry.options.get('capped') !== true) throw invalidOptions('Collection must be capped.');
  if (!isNumber(value)) throw wrongType(name, value, '[long, int, decimal, double]');
  return [name === 'cappedSize' ? 'size' : 'max', wholeOf(value)];
}

function modifyView(changes: Document, options: Document, nowSeconds: number): NameEntry {
  return { kind: 'view', options: merged(options, changes.fields, nowSeconds) };
}

/** The options with these in their place, checked as for `create`. */
function merged(options: Document, changes: readonly (readonly [string, Value])[], nowSeconds: number): Document {
  const names = new Set(changes.map(([name]) => name));
  return parseCreateOptions(Document.fromEntries([...options.fields.filter(([name]) => !names.has(name)), ...changes]), nowSeconds);
}

const indexFields: ReadonlySet<string> = new Set(['name', 'keyPattern', 'expireAfterSeconds', 'hidden', 'unique', 'prepareUnique']);

const wrongType = (field: string, value: Value, expected: string): CommandError =>
  typeMismatch(`BSON field 'collMod.${field}' is the wrong type '${String(typeNameOf(typeOf(value)))}', expected type '${expected}'`);

function modifyIndex(ns: Namespace, entry: CollectionEntry, given: Value): Modification {
  if (!(given instanceof Document)) throw wrongType('index', given, 'object');
  const asked = Document.fromEntries(given.fields.filter(([, value]) => value !== null));
  for (const name of asked.keys()) if (!indexFields.has(name)) throw unknownField('collMod.index', name);
  const at = findIndex(ns, entry, asked);
  const converts = isConversion(asked.get('unique'), entry.indexes[at]?.spec);
  checkAsked(entry, asked);
  const row = entry.indexes[at];
  if (row === undefined) return modifyPrimary(entry, asked);
  const pattern = row.spec.get('key');
  if (asked.has('expireAfterSeconds') && pattern instanceof Document && pattern.fields.length > 1) {
    throw invalidOptions('TTL indexes are single-field indexes, compound indexes do not support TTL');
  }
  const reply: [string, Value][] = [];
  if (converts) return { entry, reply: Document.of({ unique_new: true }), unique: defineIndex(row.spec).name };
  const spec = ['expireAfterSeconds', 'hidden', 'prepareUnique'].reduce((changed, name) => changeOption(changed, name, asked, reply), row.spec);
  if (reply.some(([name]) => name === 'prepareUnique_new') && asked.fields.length > 2) throw invalidOptions('prepareUnique field cannot be combined with any other modification in the same collMod command');
  return { entry: { ...entry, indexes: entry.indexes.with(at, { ...row, spec }) }, reply: Document.fromEntries(reply) };
}

/** The index on `_id` is unique already: to ask that of it changes nothing. */
function modifyPrimary(entry: CollectionEntry, asked: Document): Modification {
  if (asked.has('expireAfterSeconds')) throw invalidOptions('the _id field does not support TTL indexes');
  if (asked.has('hidden')) throw badValue("can't hide _id index");
  return { entry, reply: Document.empty };
}

/** Something must be asked for that an index of this collection can have. */
function checkAsked({ partitions }: CollectionEntry, asked: Document): void {
  if (!['expireAfterSeconds', 'hidden', 'unique', 'prepareUnique'].some((name) => asked.has(name))) {
    throw invalidOptions('no expireAfterSeconds, hidden, unique, or prepareUnique field');
  }
  if (partitions !== undefined && (asked.has('unique') || asked.has('prepareUnique'))) throw location(17351, 'cannot add a unique index to a partitioned collection');
}

/** Whether the index is to be made unique; one that is may be said to be. */
function isConversion(unique: Value | undefined, spec: Document | undefined): boolean {
  if (unique === undefined) return false;
  if (typeof unique !== 'boolean' && !isNumber(unique)) throw wrongType('index.unique', unique, '[bool, long, int, decimal, double]');
  if (unique === false || numberOf(unique) === 0) throw badValue("collMod does not support converting a unique index to a non-unique one");
  if (spec === undefined || spec.get('unique') === true) return false;
  if (spec.get('prepareUnique') !== true) throw invalidOptions("Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.");
  return true;
}

/** Name or key pattern of the index that is asked for: one of them. */
function askedIndex(asked: Document): { readonly name: string | undefined; readonly key: Document | undefined } {
  const name = asked.get('name');
  const key = asked.get('keyPattern');
  if (name !== undefined && typeof name !== 'string') throw wrongType('index.name', name, 'string');
  if (key !== undefined && !(key instanceof Document)) throw wrongType('index.keyPattern', key, 'object');
  if (name !== undefined && key !== undefined) throw invalidOptions('Cannot specify both key pattern and name.');
  if (name === undefined && key === undefined) throw invalidOptions('Must specify either index name or key pattern.');
  return { name, key };
}

/** The place of the index among the secondary ones; -1 for that of `_id`. */
function findIndex(ns: Namespace, { indexes, options }: CollectionEntry, asked: Document): number {
  const { name, key } = askedIndex(asked);
  if (name === '_id_' || (key !== undefined && equalKeys(key, primaryKeyPattern))) {
    if (options.has('clusteredIndex')) throw indexNotFound(`cannot find index ${describeValue(name ?? key ?? null)} for ns ${ns.text}`);
    return -1;
  }
  const at = indexes.findIndex(({ spec }) => {
    const pattern = spec.get('key');
    return name === undefined ? key !== undefined && pattern instanceof Document && equalKeys(pattern, key) : spec.get('name') === name;
  });
  if (at < 0) throw indexNotFound(`cannot find index ${describeValue(name ?? key ?? null)} for ns ${ns.text}`);
  return at;
}

/** One option of a specification; the reply says what it was and what it is, where that differs. */
function changeOption(spec: Document, name: string, asked: Document, reply: [string, Value][]): Document {
  const wanted = asked.get(name);
  if (wanted === undefined) return spec;
  const now = checked(name, wanted);
  const before = spec.get(name);
  if (typeof now !== 'boolean' || (before === true) !== now) {
    if (before !== undefined || typeof now === 'boolean') reply.push([`${name}_old`, shown(before ?? false)]);
    reply.push([`${name}_new`, shown(now)]);
  }
  const others = spec.fields.filter(([option]) => option !== name);
  return Document.fromEntries(now === false ? others : [...others, [name, now]]);
}

/** Replies have seconds as int64. */
const shown = (value: Value): Value => (typeof value === 'number' ? BigInt(value) : value);

function checked(name: string, value: Value): Value {
  if (name === 'hidden' || name === 'prepareUnique') {
    if (typeof value !== 'boolean' && !isNumber(value)) throw wrongType(`index.${name}`, value, '[bool, long, int, decimal, double]');
    return typeof value === 'boolean' ? value : numberOf(value) !== 0;
  }
  if (!isNumber(value)) throw wrongType('index.expireAfterSeconds', value, '[long, int, decimal, double]');
  const seconds = Number(wholeOf(value));
  if (seconds < 0) throw new CommandError(72, 'InvalidOptions', "TTL index 'expireAfterSeconds' option must be numeric and cannot be less than 0");
  return Math.min(seconds, 2147483647);
}
