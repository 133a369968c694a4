// Collation documents: what they may say, MongoDB's refusals, and the full form that it shows (manual: "Collation"). What a document leaves out is the
// locale's (Danish puts capitals first, Thai shifts punctuation).

import { CommandError } from '../base/errors.ts';
import { describeValue, Document, isNumber, roundNumber, Decimal128, toDouble, typeNameOf, typeOf } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { Collation } from './collation.ts';
import { collationVersion } from './version.ts';
import { tableOfLocale } from './locale.ts';
import { settingsOf } from './settings.ts';
import type { CollationSettings } from './settings.ts';

const field = (name: string): string => `BSON field 'collation.${name}'`;

function wrongType(name: string, value: Value, expected: string): CommandError {
  return new CommandError(14, 'TypeMismatch', `${field(name)} is the wrong type '${String(typeNameOf(typeOf(value)))}', expected type '${expected}'`);
}

const badValue = (text: string): CommandError => new CommandError(2, 'BadValue', text);

type Check = (value: Value, name: string) => Value;

const bool: Check = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw wrongType(name, value, 'bool');
};

const text: Check = (value, name) => {
  if (typeof value === 'string') return value;
  throw wrongType(name, value, 'string');
};

const oneOf =
  (...allowed: readonly string[]): Check =>
  (value, name) => {
    if (typeof value !== 'string') throw wrongType(name, value, 'string');
    if (allowed.includes(value)) return value;
    throw badValue(`Enumeration value '${value}' for field 'collation.${name}' is not a valid value.`);
  };

/** Doubles are cut, decimals rounded, as MongoDB does. */
const strength: Check = (value, name) => {
  if (!isNumber(value)) throw wrongType(name, value, '[long, int, decimal, double]');
  const number = toDouble(value instanceof Decimal128 ? (roundNumber(value, 0, 'half-even') ?? value) : value);
  const whole = Number.isNaN(number) ? 0 : Math.trunc(number);
  if (whole < 1) throw badValue(`${field(name)} value must be >= 1, actual value '${whole}'`);
  if (whole > 5) throw badValue(`${field(name)} value must be <= 5, actual value '${whole}'`);
  return whole;
};

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['locale', text],
  ['caseLevel', bool],
  ['caseFirst', oneOf('upper', 'lower', 'off')],
  ['strength', strength],
  ['numericOrdering', bool],
  ['alternate', oneOf('non-ignorable', 'shifted')],
  ['maxVariable', oneOf('punct', 'space')],
  ['normalization', bool],
  ['backwards', bool],
  ['version', text],
]);

function checkFields(given: Document): Map<string, Value> {
  const fields = new Map<string, Value>();
  for (const [name, value] of given.fields) {
    const check = checks.get(name);
    if (check === undefined) throw new CommandError(40415, 'IDLUnknownField', `${field(name)} is an unknown field.`);
    if (value !== null || name === 'backwards' || name === 'locale') fields.set(name, check(value, name));
  }
  if (!fields.has('locale')) {
    throw new CommandError(40414, 'IDLFailedToParse', `${field('locale')} is missing but a required field`);
  }
  return fields;
}

const keptMax = 200;
const kept = new Map<string, Collation>();

/**
 * The collation that a document means; undefined for `{ locale: 'simple' }`, the order of bytes. 14, 2, 40414, 40415, 161 for what MongoDB
 * refuses.
 */
export function parseCollation(given: Document): Collation | undefined {
  const fields = checkFields(given);
  const locale = fields.get('locale');
  if (locale === 'simple' || typeof locale !== 'string') return undefined;
  if (locale === '') throw badValue(`Field 'locale' cannot be the empty string in: ${describeValue(given)}`);
  if (locale.includes('\0')) throw badValue(`Field 'locale' cannot contain null bytes in: ${describeValue(given)}`);
  const table = tableOfLocale(locale);
  if (table === undefined) throw badValue(`Field 'locale' is invalid in: ${describeValue(given)}`);
  const version = fields.get('version');
  if (version !== undefined && version !== collationVersion) {
    throw new CommandError(
      161,
      'IncompatibleCollationVersion',
      `Requested collation version ${describeValue(version)} but the only available collator version was ${collationVersion}. Requested collation spec: ${describeValue(given)}`,
    );
  }
  const settings = merged(settingsOf(table.options), fields);
  checkTogether(settings, fields, given);
  const spec = specOf(locale, settings);
  const name = describeValue(spec);
  let collation = kept.get(name);
  if (collation === undefined) {
    collation = new Collation(spec, settings, table);
    if (kept.size >= keptMax) kept.clear();
    kept.set(name, collation);
  }
  return collation;
}

/** The settings of the locale with those that were given in their place. */
function merged(settings: CollationSettings, fields: ReadonlyMap<string, Value>): CollationSettings {
  const given = Object.fromEntries([...fields].filter(([name]) => name in settings));
  return { ...settings, ...given };
}

function checkTogether({ caseFirst, caseLevel, strength: levels, backwards }: CollationSettings, fields: ReadonlyMap<string, Value>, given: Document): void {
  if (backwards && levels === 1 && fields.has('backwards')) throw badValue(`'backwards' is invalid with 'strength' of 1, found: ${describeValue(given)}`);
  if (fields.has('caseFirst') && caseFirst !== 'off' && !caseLevel && levels < 3) {
    throw badValue(`'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2, found: ${describeValue(given)}`);
  }
}

function specOf(locale: string, settings: CollationSettings): Document {
  return Document.of({
    locale,
    caseLevel: settings.caseLevel,
    caseFirst: settings.caseFirst,
    strength: settings.strength,
    numericOrdering: settings.numericOrdering,
    alternate: settings.alternate,
    maxVariable: settings.maxVariable,
    normalization: settings.normalization,
    backwards: settings.backwards,
    version: collationVersion,
  });
}

/** Whether two collations are the same; undefined is the order of bytes. */
export function sameCollation(a: Collation | undefined, b: Collation | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && describeValue(a.spec) === describeValue(b.spec));
}
