// Entries of a text index: one for each term of a document, with its score, between the values of the plain fields around (manual: "Text Indexes"). The key
// pattern that is kept names the terms `_fts` and the scores `_ftsx`, as MongoDB's does; the fields and their weights stand beside it.

import { everyField } from './wildcard-keys.ts';
import { mappedItems } from '../../base/long-lists.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, describeValue, Document, Double, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { Direction } from '../../engine/index.ts';
import { languageOf, scoresOf } from '../../query/index.ts';
import type { TextFields } from '../../query/index.ts';
import { cannotCreateIndex } from '../refusal.ts';
import type { SpecialDocumentKeys, SpecialKeys } from './special-keys.ts';

const termField = '_fts';
const scoreField = '_ftsx';
const weightMax = 99999;

/** The specification of a text index as it is kept: from the one that was given, with all that was left out. */
export function textSpecOf(key: Document, given: ReadonlyMap<string, Value>): { readonly key: Document; readonly options: Map<string, Value> } {
  const options = new Map(given);
  const weights = weightsOf(key, given.get('weights'));
  const language = given.get('default_language') ?? 'english';
  if (typeof language !== 'string' || languageOf(language) === undefined) throw cannotCreateIndex(`default_language is not valid: ${describeValue(language)}`);
  const override = given.get('language_override') ?? 'language';
  if (typeof override !== 'string' || override === '' || override.startsWith('$') || override.includes('.')) throw cannotCreateIndex('language_override is not valid');
  const version = given.get('textIndexVersion') ?? 3;
  if (!isNumber(version) || ![1, 2, 3].includes(toDouble(version))) throw cannotCreateIndex(`bad textIndexVersion: ${describeValue(version)}`);
  options.set('weights', Document.fromEntries([...weights].sort(([a], [b]) => (a < b ? -1 : 1))));
  options.set('default_language', language);
  options.set('language_override', override);
  options.set('textIndexVersion', version);
  return { key: keptKey(key), options };
}

/** The key pattern with the terms and scores in the place of the fields that are searched. */
function keptKey(key: Document): Document {
  const fields: [string, Value][] = [];
  for (const [path, value] of key.fields) {
    if (value !== 'text' && path !== scoreField) fields.push([path, value]);
    else if (!fields.some(([name]) => name === termField)) fields.push([termField, 'text'], [scoreField, 1]);
    else if (fields.at(-1)?.[0] !== scoreField && value === 'text') throw cannotCreateIndex("'text' fields in index must all be adjacent");
  }
  return Document.fromEntries(fields);
}

function weightsOf(key: Document, given: Value | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const [path, value] of key.fields) if (value === 'text' && path !== termField) weights.set(path, 1);
  if (given === everyField) weights.set(everyField, 1);
  for (const [path, value] of given instanceof Document ? given.fields : []) {
    const weight = isNumber(value) ? toDouble(value) : Number.NaN;
    if (!(weight > 0 && weight < weightMax)) throw cannotCreateIndex(`text index weight must be in the exclusive interval (0,${weightMax + 1}) but found: ${describeValue(value)}`);
    if (path.startsWith('$') && path !== '$**') throw cannotCreateIndex(`weight cannot have $ in its name: ${path}`);
    weights.set(path, Math.trunc(weight));
  }
  if (weights.size === 0) throw cannotCreateIndex('text index needs a field');
  return weights;
}

/** What a text index looks at, from its specification. */
export function textFieldsOf(spec: Document): TextFields {
  const weights = spec.get('weights');
  const language = spec.get('default_language');
  const override = spec.get('language_override');
  const english = languageOf('english');
  const found = typeof language === 'string' ? languageOf(language) : english;
  return {
    weights: new Map(weights instanceof Document ? weights.fields.map(([path, value]): [string, number] => [path, isNumber(value) ? toDouble(value) : 1]) : []),
    language: found ?? (english as NonNullable<typeof english>),
    languageField: typeof override === 'string' ? override : 'language',
  };
}

/** The entries of a text index: one for each word of a document, with its weight. */
export class TextKeys implements SpecialKeys {
  readonly directions: readonly Direction[];
  readonly #paths: readonly (readonly string[])[];
  readonly #term: number;
  readonly #fields: TextFields;

  constructor({ key, spec, directions }: { key: Document; spec: Document; directions: readonly Direction[] }) {
    this.directions = directions;
    this.#paths = key.keys().map((path) => path.split('.'));
    this.#term = key.keys().indexOf(termField);
    this.#fields = textFieldsOf(spec);
  }

  keysOf(document: Document): SpecialDocumentKeys {
    const scores = scoresOf(document, this.#fields);
    const around = this.#paths.map((path, i) => (i === this.#term || i === this.#term + 1 ? null : plainValue(document, path)));
    const keys = mappedItems([...scores], ([term, score]) => ({ values: around.with(this.#term, term).with(this.#term + 1, new Double(score)) }));
    return { keys, isMultikey: keys.length > 1 };
  }
}

function plainValue(document: Document, path: readonly string[]): Value {
  let at: Value | undefined = document;
  for (const name of path) {
    at = at instanceof Document ? at.get(name) : undefined;
    if (at instanceof BsonArray) throw new CommandError(16675, 'Location16675', `cannot have a multi-key as a prefix to a text index: ${path.join('.')}`);
  }
  return at ?? null;
}
