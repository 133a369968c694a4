// What kind of index a key pattern asks for, and what MongoDB refuses of each kind (manual: "Index Types").

import { CommandError } from '../base/errors.ts';
import { DateTime, describeValue, Document, isNumber, typeNameOf, typeOf } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Collation } from '../collation/index.ts';
import { compileProjection } from '../query/index.ts';
import { toDouble } from './number.ts';
import { badValue, cannotCreateIndex, failedToParse } from './refusal.ts';
import { wildcardShapeOf } from './special/wildcard-keys.ts';

/** How an index makes its entries of a document. */
export type IndexKind = 'plain' | 'hashed' | 'wildcard' | '2d' | '2dsphere' | 'text';

/** Words that name a kind in a key pattern. */
const plugins: ReadonlyMap<string, IndexKind> = new Map<string, IndexKind>([['hashed', 'hashed'], ['2d', '2d'], ['2dsphere', '2dsphere'], ['text', 'text']]);

const isWildcard = (path: string): boolean => path === '$**' || path.endsWith('.$**');

/** The kind of a key pattern; 67 and others where it is none. */
export function kindOf(key: Document): IndexKind {
  const wildcards = key.keys().filter((path) => path.split('.').includes('$**'));
  if (wildcards.length > 1) throw new CommandError(7246201, 'Location7246201', 'Index key pattern can only contain one wildcard field');
  const [wildcard] = wildcards;
  if (wildcard !== undefined && (!isWildcard(wildcard) || wildcard.split('.').filter((part) => part === '$**').length > 1)) {
    throw cannotCreateIndex("Index key contains an illegal field name: field name starts with '$'.");
  }
  const words = new Set(key.fields.map(([, value]) => value).filter((value) => typeof value === 'string'));
  if (words.size > 1) throw cannotCreateIndex(`Can't use more than one index plugin for a single index.`);
  const [word] = words;
  if (wildcard !== undefined) {
    if (word === 'text') return 'text';
    if (word !== undefined) throw cannotCreateIndex(`A wildcard index cannot be of kind '${word}'`);
    return 'wildcard';
  }
  if (word === undefined) return 'plain';
  return kindOfWord(word);
}

function kindOfWord(word: string): IndexKind {
  if (word === '') throw cannotCreateIndex('Values in the index key pattern cannot be empty strings.');
  const kind = plugins.get(word);
  if (kind !== undefined) return kind;
  throw cannotCreateIndex(`Unknown index plugin '${word}'`);
}

/** What a kind is given beside its key. */
export interface KindOptions {
  readonly key: Document;
  readonly options: ReadonlyMap<string, Value>;
  readonly collation: Collation | undefined;
}

type KindCheck = (given: KindOptions) => void;

const checks: Readonly<Record<IndexKind, KindCheck>> = {
  plain: ({ options }) => {
    if (options.has('wildcardProjection')) throw badValue(`The field 'wildcardProjection' is only allowed in an 'wildcard' index`);
  },
  hashed: ({ key, options }) => {
    const hashed = key.fields.filter(([, value]) => value === 'hashed');
    if (hashed.length > 1) {
      throw new CommandError(31303, 'Location31303', `A maximum of one index field is allowed to be hashed but found ${hashed.length} for 'key' ${describeValue(key)}`);
    }
    if (options.get('unique') === true) {
      throw new CommandError(16764, 'Location16764', 'Currently hashed indexes cannot guarantee uniqueness. Use a regular index.');
    }
    if (options.has('wildcardProjection')) throw badValue(`The field 'wildcardProjection' is only allowed in an 'wildcard' index`);
  },
  wildcard: checkWildcard,
  '2d': checkFlat,
  '2dsphere': checkSphere,
  text: checkText,
};

/** Refuses options that the kind does not have. */
export function checkKind(kind: IndexKind, given: KindOptions): void {
  checks[kind](given);
}

function checkWildcard({ key, options }: KindOptions): void {
  for (const option of ['unique', 'sparse'] as const) {
    if (options.get(option) === true) throw cannotCreateIndex(`Index type 'wildcard' does not support the ${option} option`);
  }
  if (options.has('expireAfterSeconds')) throw cannotCreateIndex("Index type 'wildcard' cannot be a TTL index");
  const version = options.get('v');
  if (version !== undefined && isNumber(version) && toDouble(version) < 2) {
    throw cannotCreateIndex(`'wildcard' index plugin is not allowed with index version v:${describeValue(version)}`);
  }
  const projection = options.get('wildcardProjection');
  if (projection instanceof Document) checkProjection(key, projection);
  checkAround(key, projection instanceof Document ? projection : undefined);
}


function checkProjection(key: Document, projection: Document): void {
  if (projection.isEmpty) throw failedToParse("The 'wildcardProjection' field can't be an empty object");
  if (!key.has('$**')) throw failedToParse("The 'wildcardProjection' option is only allowed when 'key' has '$**'");
  checkShown(projection);
  compileProjection(projection, { now: new DateTime(0) });
}

function checkShown(projection: Document): void {
  for (const [name, value] of projection.fields) {
    if (value instanceof Document && value.first?.[0].startsWith('$') !== true) checkShown(value);
    else if (typeof value !== 'boolean' && !isNumber(value)) {
      throw new CommandError(51271, 'Location51271', `Bad projection specification, cannot use computed fields when parsing a spec in kBanComputedFields mode: ${name}: ${String(typeNameOf(typeOf(value)))}`);
    }
  }
}

/** A plain field of a compound wildcard index must not be under the wildcard too. */
function checkAround(key: Document, projection: Document | undefined): void {
  if (key.fields.length === 1) return;
  const { field, projection: taken } = wildcardShapeOf(key, projection);
  key.keys().forEach((path, i) => {
    if (i === field || !taken.enters(path)) return;
    if (projection === undefined && taken.takes(path)) throw cannotCreateIndex(`A compound wildcard index needs a wildcardProjection that excludes its other fields: ${path}`);
    throw new CommandError(7246209, 'Location7246209', `The wildcardProjection must exclude all regular index fields: ${path}`);
  });
}

function checkGeo(word: '2d' | '2dsphere', { key, options, collation }: KindOptions): void {
  if (options.has('wildcardProjection')) throw badValue(`The field 'wildcardProjection' is only allowed in an 'wildcard' index`);
  if (collation !== undefined && word === '2d') throw cannotCreateIndex(`Index type '${word}' does not support collation: ${describeValue(collation.spec)}`);
  if (options.get('clustering') === true) throw cannotCreateIndex(`Index type '${word}' cannot be clustering`);
  if (word === '2d' && key.fields.filter(([, value]) => value === '2d').length > 1) throw new CommandError(16800, 'Location16800', "can't have 2 geo fields");
}

function numberFrom(options: ReadonlyMap<string, Value>, name: string): number | undefined {
  const value = options.get(name);
  return value !== undefined && isNumber(value) ? toDouble(value) : undefined;
}

function checkFlat(given: KindOptions): void {
  checkGeo('2d', given);
  const { key, options } = given;
  if (key.first?.[1] !== '2d') throw new CommandError(16801, 'Location16801', '2d has to be first in index');
  const bits = numberFrom(options, 'bits');
  if (bits !== undefined && !(bits >= 1 && bits <= 32)) throw new CommandError(72, 'InvalidOptions', 'bits for hash must be > 0 and <= 32');
  const [min, max] = [numberFrom(options, 'min') ?? -180, numberFrom(options, 'max') ?? 180];
  if (!(min < max)) throw new CommandError(72, 'InvalidOptions', 'region for hash must be valid and have positive area');
}

function checkSphere(given: KindOptions): void {
  checkGeo('2dsphere', given);
  const version = numberFrom(given.options, '2dsphereIndexVersion');
  if (version !== undefined && ![1, 2, 3].includes(version)) throw cannotCreateIndex(`unsupported geo index version { 2dsphereIndexVersion : ${version} }, only support versions: [1,2,3]`);
}

function checkText({ collation }: KindOptions): void {
  if (collation !== undefined) throw cannotCreateIndex(`Index type 'text' does not support collation: ${describeValue(collation.spec)}`);
}
