// What a text index looks at in a document: the texts of its fields with their weights and languages, and the score of each term (manual: "Text Indexes").
// The score of a term is MongoDB's: each time it comes in a field counts half of the time before, and a term that makes up much of a field counts more.

import { overItems } from '../../base/long-lists.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { languageOf } from './language.ts';
import type { Language } from './language.ts';
import { termsOf } from './words.ts';

/** What a text index is told. */
export interface TextFields {
  /** Dotted path, or `$**` for all, to weight. */
  readonly weights: ReadonlyMap<string, number>;
  readonly language: Language;
  /** The field of a document that names its language. */
  readonly languageField: string;
}

type Visit = (text: string, weight: number, language: Language) => void;

/** Calls `visit` with each indexed text of a document. */
export function eachText(document: Document, fields: TextFields, visit: Visit): void {
  walk(document, '', languageIn(document, fields, fields.language), { fields, visit });
}

interface Walk {
  readonly fields: TextFields;
  readonly visit: Visit;
}

function languageIn(document: Document, { languageField }: TextFields, outer: Language): Language {
  const named = document.get(languageField);
  if (named === undefined) return outer;
  if (typeof named !== 'string') throw refuse(17261, 'found language override field in document with non-string type');
  const language = languageOf(named);
  if (language === undefined) throw refuse(17262, `language override unsupported: ${named}`);
  return language;
}

function walk(document: Document, prefix: string, language: Language, context: Walk): void {
  const { fields } = context;
  const all = fields.weights.get('$**');
  for (const [name, value] of document.fields) {
    if (name === fields.languageField) continue;
    const path = prefix + name;
    const weight = fields.weights.get(path) ?? all;
    if (weight === undefined && !leadsOn(path, fields)) continue;
    each(value, path, weight, { language, context });
  }
}

const leadsOn = (path: string, { weights }: TextFields): boolean => [...weights.keys()].some((named) => named.startsWith(`${path}.`));

function each(value: Value, path: string, weight: number | undefined, inside: { language: Language; context: Walk }): void {
  const { language, context } = inside;
  if (typeof value === 'string') {
    if (weight !== undefined) context.visit(value, weight, language);
  } else if (value instanceof BsonArray) {
    for (const item of value.items()) if (!(item instanceof BsonArray)) each(item, path, weight, inside);
  } else if (value instanceof Document) walk(value, `${path}.`, languageIn(value, context.fields, language), context);
}

/** The score of each term of a document. */
export function scoresOf(document: Document, fields: TextFields): Map<string, number> {
  const texts: WeighedText[] = [];
  eachText(document, fields, (text, weight, language) => texts.push({ text, weight, language }));
  return overItems(texts, () => new Map<string, number>(), addScores);
}

interface WeighedText {
  readonly text: string;
  readonly weight: number;
  readonly language: Language;
}

interface Occurrence {
  count: number;
  frequency: number;
  exponent: number;
}

function addScores(scores: Map<string, number>, { text, weight, language }: WeighedText): void {
  const terms = termsOf(text, language);
  const seen = overItems(terms, () => new Map<string, Occurrence>(), (found, term) => {
    const entry = found.get(term) ?? { count: 0, frequency: 0, exponent: 0 };
    entry.exponent = entry.exponent === 0 ? 1 : entry.exponent * 2;
    entry.count += 1;
    entry.frequency += 1 / entry.exponent;
    found.set(term, entry);
  });
  for (const [term, { count, frequency }] of seen) {
    const share = (0.5 * count) / terms.length + 0.5;
    const whole = text.length === term.length && text.toLowerCase() === term ? 1.1 : 1;
    scores.set(term, (scores.get(term) ?? 0) + weight * frequency * share * whole);
  }
}
