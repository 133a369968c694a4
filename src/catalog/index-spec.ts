// Specifications of indexes: what `createIndexes` accepts, how two of them conflict, and the definition that follows. Codes and words are those
// of MongoDB 7.0 (manual: "createIndexes", "Index Properties"). What each kind of index asks for is in index-kind.ts.

import { everyField } from './special/wildcard-keys.ts';
import { assert } from '../base/assert.ts';
import { CommandError } from '../base/errors.ts';
import { BsonArray, compareValues, DateTime, describeValue, Document, equalValues, isNumber, typeNameOf, typeOf } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Direction } from '../engine/index.ts';
import { checkKind, kindOf } from './index-kind.ts';
import { textSpecOf } from './special/text-keys.ts';
import { parseCollation, sameCollation } from '../collation/index.ts';
import type { Collation } from '../collation/index.ts';
import { compileFilter } from '../query/index.ts';
import type { FilterNode, QueryOptions } from '../query/index.ts';
import { location, cannotCreateIndex, failedToParse, indexKeySpecsConflict, indexOptionsConflict, invalidIndexOption, typeMismatch, badValue } from './refusal.ts';
import { numberOf, toDouble } from './number.ts';
import { checkSeriesIndex } from './time-series-index.ts';
import type { Collection, IndexDefinition } from './types.ts';
import { checkDictionaryOption, dictionaryOptionNames, engineOption } from './dictionary-option.ts';
import { storageEngine } from './storage-engine-option.ts';

/** Most indexes of a collection. */
const indexesMax = 64;

const ttlSecondsMax = 2147483647;

export const primaryKeyPattern: Document = Document.of({ _id: 1 });
export const primarySpec: Document = Document.of({ v: 2, key: primaryKeyPattern, name: '_id_' });

/** The specification of the index on `_id` in a collection of this collation. */
export function primarySpecOf(collation: Collation | undefined): Document {
  return collation === undefined ? primarySpec : Document.of({ v: 2, key: primaryKeyPattern, name: '_id_', collation: collation.spec });
}

type OptionCheck = (value: Value, name: string) => Value;

const boolean: OptionCheck = (value, name) => {
  if (typeof value === 'boolean') return value;
  if (isNumber(value)) return toDouble(value) !== 0;
  throw typeMismatch(`The field '${name}' has value ${name}: ${describeValue(value)}, which is not convertible to bool`);
};
const strictBoolean: OptionCheck = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw typeMismatch(`The field '${name}' must be a boolean, but got ${typeText(value)}`);
};
const object: OptionCheck = (value, name) => {
  if (value instanceof Document) return value;
  throw typeMismatch(`The field '${name}' must be an object, but got ${typeText(value)}`);
};
const engines: OptionCheck = (value, name) => {
  storageEngine(object(value, name), name);
  return value;
};
const text: OptionCheck = (value, name) => {
  if (typeof value === 'string') return value;
  throw typeMismatch(`The field '${name}' must be a string, but got ${typeText(value)}`);
};
const number: OptionCheck = (value, name) => {
  if (isNumber(value)) return value;
  throw typeMismatch(`The field '${name}' must be a number, but got ${typeText(value)}`);
};
const dictionaryOption: OptionCheck = (value, name) => {
  checkDictionaryOption(name, value, name);
  return value;
};
const typeText = (value: Value): string => String(typeNameOf(typeOf(value)));

/** Option -> its check; what is not here is an unknown option (197). `undefined`: accepted and not kept. */
const options: ReadonlyMap<string, OptionCheck | undefined> = new Map<string, OptionCheck | undefined>([
  ['v', number],
  ['key', object],
  ['name', text],
  ['ns', undefined],
  ['background', boolean],
  ['unique', boolean],
  ['sparse', boolean],
  ['hidden', strictBoolean],
  ['clustering', boolean],
  ['expireAfterSeconds', (value) => value],
  ['partialFilterExpression', object],
  ['storageEngine', engines],
  ['collation', object],
  ['prepareUnique', boolean],
  ['dropDups', undefined],
  // Of kinds that are not built: checked as far as their type, then the kind is refused or they mean nothing.
  [
    'weights',
    (value, name) => {
      if (value === everyField) return value;
      if (typeof value === 'string' || value instanceof BsonArray) throw cannotCreateIndex('text index option weights must be an object');
      return object(value, name);
    },
  ],
  ['default_language', text],
  ['language_override', text],
  ['textIndexVersion', number],
  ['2dsphereIndexVersion', number],
  ['bits', number],
  ['min', number],
  ['max', number],
  ['bucketSize', number],
  ['wildcardProjection', object],
  ...dictionaryOptionNames.map((name): [string, OptionCheck] => [name, dictionaryOption]),
]);

/** Options that, with the key, say which index it is. In any other two indexes of equal key differ without being different indexes. */
const identityOptions: readonly string[] = ['unique', 'sparse', 'partialFilterExpression', 'clustering', 'collation', 'wildcardProjection', 'weights', 'default_language', 'language_override'];
/** What is compared by itself, or does not count. */
const notCompared: ReadonlySet<string> = new Set([...identityOptions, 'v', 'key', 'name', 'background', 'textIndexVersion', '2dsphereIndexVersion']);

/** Checks a specification as a client gave it and gives the definition; 9, 14, 67, 197. */
function parseIndexSpec(given: Document, inherited?: Collation): IndexDefinition {
  const key = given.get('key');
  if (key === undefined) throw failedToParse(`The 'key' field is a required property of an index specification`);
  if (!(key instanceof Document)) throw typeMismatch(`The field 'key' must be an object, but got ${typeText(key)}`);
  const name = given.get('name');
  if (name === undefined) throw failedToParse(`The 'name' field is a required property of an index specification`);
  const kept = new Map<string, Value>();
  for (const [option, value] of given) {
    if (!options.has(option)) {
      throw invalidIndexOption(`The field '${option}' is not valid for an index specification. Specification: ${describeValue(given)}`);
    }
    const check = options.get(option);
    // It means nothing any more, and clients that do not know it send null.
    if (option === 'background' && value === null) continue;
    if (check !== undefined) kept.set(option, check(value, option));
  }
  if (engineOption(given, 'clustering') === true) kept.set('clustering', true);
  checkName(text(name, 'name'), key);
  checkVersion(kept.get('v'));
  const directions = parseKeyPattern(key);
  const asked = kept.get('collation');
  if (asked instanceof Document && asked.isEmpty) throw badValue("The field 'collation' cannot be an empty object.");
  const collation = asked instanceof Document ? parseCollation(asked) : inherited;
  checkCombination(key, kept, collation);
  kept.delete('collation');
  if (collation !== undefined) kept.set('collation', collation.spec);
  if (kindOf(key) === 'text') {
    const { key: kind, options: whole } = textSpecOf(key, kept);
    return defineIndex(specOf(kind, whole));
  }
  return defineIndex(specOf(key, kept), directions);
}

function checkName(name: Value, key: Document): void {
  if (typeof name !== 'string') return;
  if (name.length === 0) throw cannotCreateIndex('index name cannot be empty');
  if (name.includes('\0')) throw cannotCreateIndex('index name cannot contain NUL bytes');
  if (name === '*') throw badValue("The index name '*' is not valid.");
  if (name === '_id_' && !equalKeys(key, primaryKeyPattern)) {
    throw badValue(`The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, found key: ${describeValue(key)}`);
  }
}

function checkVersion(version: Value | undefined): void {
  if (version === undefined) return;
  const number = isNumber(version) ? toDouble(version) : Number.NaN;
  if (number !== 1 && number !== 2) {
    throw cannotCreateIndex(`Invalid index specification; cannot create an index with v=${describeValue(version)}`);
  }
}

/** The specification as it is stored and listed: `v`, `key`, `name`, then what was asked for, false flags left out. */
function specOf(key: Document, kept: ReadonlyMap<string, Value>): Document {
  const spec: [string, Value][] = [['v', 2], ['key', key], ['name', kept.get('name') ?? '']];
  for (const [option, value] of kept) {
    if (option === 'v' || option === 'key' || option === 'name' || (value === false && option !== 'background')) continue;
    spec.push([option, option === 'expireAfterSeconds' ? Math.trunc(numberOf(value)) : value]);
  }
  if (kindOf(key) === '2dsphere' && !kept.has('2dsphereIndexVersion')) spec.push(['2dsphereIndexVersion', 3]);
  return Document.fromEntries(spec);
}

function parseKeyPattern(key: Document): Direction[] {
  if (key.isEmpty) throw cannotCreateIndex('Index keys cannot be an empty object.');
  if (key.fields.length > 32) throw cannotCreateIndex(`Index key pattern too large. An index may have at most 32 fields`);
  const seen = new Set<string>();
  return key.fields.map(([path, value]) => {
    checkPath(path, value);
    if (seen.has(path)) throw cannotCreateIndex(`Index key pattern cannot contain duplicate field '${path}'`);
    seen.add(path);
    return parseDirection(value);
  });
}

function checkPath(path: string, kind: Value): void {
  if (path.length === 0) throw cannotCreateIndex('Index keys cannot be an empty field.');
  for (const part of path.split('.')) {
    // An index of texts has every field, or those that it names.
    if (part === everyField && (kind !== 'text' || path === everyField)) continue;
    if (part.length === 0) throw cannotCreateIndex('Index keys cannot contain an empty field.');
    if (part.startsWith('$') && !/^\$(id|ref|db)$/.test(part)) {
      throw cannotCreateIndex("Index key contains an illegal field name: field name starts with '$'.");
    }
  }
}

function parseDirection(value: Value): Direction {
  if (typeof value === 'string') return 1;
  if (!isNumber(value)) {
    throw cannotCreateIndex(
      `Values in v:2 index key pattern cannot be of type ${typeText(value)}. Only numbers > 0, numbers < 0, and strings are allowed.`,
    );
  }
  const number = toDouble(value);
  if (number === 0) throw cannotCreateIndex('Values in the index key pattern cannot be 0.');
  if (Number.isNaN(number)) throw cannotCreateIndex('Values in the index key pattern cannot be NaN.');
  return number > 0 ? 1 : -1;
}

function checkCombination(key: Document, kept: ReadonlyMap<string, Value>, collation: Collation | undefined): void {
  if (kept.has('partialFilterExpression') && kept.get('sparse') === true) {
    throw cannotCreateIndex('cannot mix "partialFilterExpression" and "sparse" options');
  }
  checkKind(kindOf(key), { key, options: kept, collation });
  const seconds = kept.get('expireAfterSeconds');
  if (seconds !== undefined) checkTtl(key, kept, seconds);
  if (kept.has('weights') && kindOf(key) !== 'text') throw cannotCreateIndex("the field 'weights' can only be specified with text indexes");
  const partial = kept.get('partialFilterExpression');
  if (partial instanceof Document) checkPartialFilter(partial, collation);
}

function checkTtl(key: Document, kept: ReadonlyMap<string, Value>, given: Value): void {
  if (!isNumber(given)) {
    throw cannotCreateIndex(`TTL index 'expireAfterSeconds' option must be numeric, but received a type of '${typeText(given)}'.`);
  }
  const seconds = numberOf(given);
  if (!(seconds >= 0)) throw cannotCreateIndex("TTL index 'expireAfterSeconds' option cannot be less than 0");
  if (seconds > ttlSecondsMax) {
    throw cannotCreateIndex(`TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number`);
  }
  if (key.fields.length > 1) {
    throw cannotCreateIndex(
      `TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: ${describeValue(specOf(key, kept))}`,
    );
  }
}

const partialOptions: QueryOptions = { now: new DateTime(0) };

/** Equality, ranges, `$in`, `$type`, `$exists: true`, and ands and ors of them (manual: "Partial Indexes"). */
function checkPartialFilter(filter: Document, collation: Collation | undefined): void {
  checkPartialNode(compileFilter(filter, { ...partialOptions, collation }).shape, filter);
}

const partialKinds: ReadonlySet<FilterNode['kind']> = new Set(['compare', 'in', 'exists', 'type', 'always', 'geo']);

function checkPartialNode(node: FilterNode, filter: Document): void {
  if (node.kind === 'and' || node.kind === 'or') for (const child of node.children) checkPartialNode(child, filter);
  else if (node.kind === 'expr') throw new CommandError(224, 'QueryFeatureNotAllowed', '$expr is not allowed in this context');
  else if (!partialKinds.has(node.kind) || (node.kind === 'in' && node.patterns.length > 0)) {
    throw cannotCreateIndex(`unsupported expression in partial index: ${describeValue(filter)}`);
  }
}

/** The definition of a specification that was checked. */
export function defineIndex(spec: Document, directions?: readonly Direction[]): IndexDefinition {
  const key = spec.get('key');
  const name = spec.get('name');
  assert(key instanceof Document && typeof name === 'string', 'an index specification that was checked');
  const partial = spec.get('partialFilterExpression');
  const seconds = spec.get('expireAfterSeconds');
  const collation = spec.get('collation');
  const projection = spec.get('wildcardProjection');
  return {
    name,
    key,
    kind: kindOf(key),
    paths: key.keys(),
    directions: directions ?? key.fields.map(([, value]) => parseDirection(value)),
    unique: spec.get('unique') === true,
    sparse: spec.get('sparse') === true,
    clustering: spec.get('clustering') === true,
    hidden: spec.get('hidden') === true,
    preparesUnique: spec.get('prepareUnique') === true,
    partialFilter: partial instanceof Document ? partial : undefined,
    expireAfterSeconds: seconds !== undefined && isNumber(seconds) ? toDouble(seconds) : undefined,
    collation: collation instanceof Document ? parseCollation(collation) : undefined,
    wildcardProjection: projection instanceof Document ? projection : undefined,
    spec,
  };
}

/** Whether the key pattern is that of the `_id` index, and the request may be taken for it (197 where its options say otherwise). */
function isPrimaryRequest(definition: IndexDefinition): boolean {
  const [only] = definition.key.fields;
  if (definition.kind !== 'plain' || definition.paths.length !== 1 || only?.[0] !== '_id') return false;
  if (definition.directions[0] !== 1) return false;
  for (const option of definition.spec.keys()) {
    if (!primaryOptions.has(option)) {
      throw invalidIndexOption(
        `The field '${option}' is not valid for an _id index specification. Specification: ${describeValue(definition.spec)}`,
      );
    }
  }
  return true;
}

function checkPrimaryCollation(definition: IndexDefinition, inherited: Collation | undefined): void {
  if (sameCollation(definition.collation, inherited)) return;
  throw badValue(`The _id index must have the same collation as the collection. Index collation: ${describeValue(definition.collation?.spec ?? simple)}, collection collation: ${describeValue(inherited?.spec ?? simple)}`);
}

const simple = Document.of({ locale: 'simple' });
const primaryOptions: ReadonlySet<string> = new Set(['v', 'key', 'name', 'ns', 'collation', 'background']);

/** Refuses a description of the `_id` index that says anything else than what it is. */
export function checkPrimarySpec(given: Document): void {
  const definition = parseIndexSpec(given);
  if (!isPrimaryRequest(definition)) {
    throw badValue(`The field 'key' for an _id index must be {_id: 1}, but got ${describeValue(definition.key)}`);
  }
  const other = given.keys().find((option) => option === 'background' || !primaryOptions.has(option));
  if (other !== undefined) {
    throw invalidIndexOption(`The field '${other}' is not valid for an _id index specification. Specification: ${describeValue(given)}`);
  }
}

/** Whether `wanted` is there already (true), is new (false), or conflicts with an index that is there (85, 86). */
function isThere(wanted: IndexDefinition, existing: IndexDefinition): boolean {
  const sameIdentity = equalKeys(wanted.key, existing.key) && identityOptions.every((option) => equalOption(wanted, existing, option));
  const samePlain = samePlainOptions(wanted, existing);
  const both = `Requested index: ${describeValue(wanted.spec)}, existing index: ${describeValue(existing.spec)}`;
  if (!sameIdentity && wanted.kind === 'text' && existing.kind === 'text') {
    throw indexOptionsConflict(`only one text index per collection allowed, found existing text index "${existing.name}"`);
  }
  if (wanted.name === existing.name) {
    if (sameIdentity && samePlain) return true;
    if (sameIdentity) {
      throw indexOptionsConflict(`An equivalent index already exists with the same name but different options. ${both}`);
    }
    throw indexKeySpecsConflict(
      `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. ${both}`,
    );
  }
  if (!sameIdentity) return false;
  if (samePlain) throw indexOptionsConflict(`Index already exists with a different name: ${existing.name}`);
  throw indexOptionsConflict(`An equivalent index already exists with a different name and options. ${both}`);
}

/** Equal paths in equal order, directions equal by value. */
export function equalKeys(a: Document, b: Document): boolean {
  const left = a.fields;
  const right = b.fields;
  return left.length === right.length && left.every(([path, value], i) => {
    const other = right[i];
    return other !== undefined && other[0] === path && equalValues(value, other[1]);
  });
}

/** Options of how an index is kept may be left out by who asks for it again: an administrator may have chosen them later (TokuMX's `reIndex`). */
function samePlainOptions(wanted: IndexDefinition, existing: IndexDefinition): boolean {
  const names = new Set([...wanted.spec.keys(), ...existing.spec.keys()]);
  return [...names].every((name) => {
    if (notCompared.has(name) || (dictionaryOptionNames.includes(name) && !wanted.spec.has(name))) return true;
    return equalOption(wanted, existing, name);
  });
}

function equalOption(a: IndexDefinition, b: IndexDefinition, option: string): boolean {
  const left = a.spec.get(option);
  const right = b.spec.get(option);
  if (left === undefined || right === undefined) return left === right;
  if (option === 'partialFilterExpression') return equalValues(inOrder(left), inOrder(right));
  return equalValues(left, right);
}

/** A filter whose conditions in lists stand in one order, whatever order they were written in. */
function inOrder(filter: Value): Value {
  if (!(filter instanceof Document)) return filter;
  return Document.fromEntries(filter.fields.map(([name, value]) => {
    if ((name !== '$and' && name !== '$or') || !(value instanceof BsonArray)) return [name, value] as const;
    return [name, BsonArray.of(value.items().map(inOrder).sort(compareValues))] as const;
  }));
}

/** Refuses an index that a collection of this kind cannot have. */
function checkAllowed(definition: IndexDefinition, collection: Collection): void {
  checkSeriesIndex(definition, collection.options);
  if (!definition.unique && !definition.preparesUnique) return;
  if (collection.partitionInfo() !== undefined) throw location(17351, 'cannot add a unique index to a partitioned collection');
}

/** The definitions among `specs` that are not there yet; 67, 85, 86 for what cannot be. */
export function newIndexes(collection: Collection | undefined, specs: readonly Document[], where: string): IndexDefinition[] {
  const existing: readonly IndexDefinition[] = collection?.indexes ?? [];
  // The index on `_id` has the collection's own.
  const inherited = existing.find((index) => index.name === '_id_')?.collation;
  const secondaries = existing.filter((index) => index.name !== '_id_');
  const own = collection?.indexes.find((index) => index.isPrimary && index.name !== '_id_');
  const wanted: IndexDefinition[] = [];
  for (const spec of specs) {
    const definition = parseIndexSpec(spec, inherited);
    if (isPrimaryRequest(definition)) {
      checkPrimaryCollation(definition, inherited);
      continue;
    }
    // The documents themselves lie in that order.
    if (own !== undefined && equalKeys(definition.key, own.key)) continue;
    if ([...secondaries, ...wanted].some((other) => isThere(definition, other))) continue;
    if (collection !== undefined) checkAllowed(definition, collection);
    wanted.push(definition);
    if (1 + secondaries.length + wanted.length > indexesMax) {
      throw cannotCreateIndex(`add index fails, too many indexes for ${where} key:${describeValue(definition.key)}`);
    }
  }
  return wanted;
}
