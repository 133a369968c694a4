// The settings of one query shape: what they may say, how two sets are put together, and when nothing is left of them. Codes as MongoDB's.
// Follows the manual's page "setQuerySettings".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { namespaceOf, type Namespace } from '../../catalog/index.ts';
import { anyField, objectField, parseFields, required, strictBoolField, stringField, typeText, wordField, type Field, type FieldTable } from '../fields.ts';

const OWNER = 'setQuerySettings.settings';

function wrongType(at: string, value: Value, types: string): CommandError {
  return new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}', expected ${types}`);
}

const allowedField: Field<BsonArray> = {
  types: ['array'],
  required: false,
  read: (value, at) => {
    if (!(value instanceof BsonArray)) throw wrongType(at, value, `type 'array'`);
    for (const index of value.items()) {
      if (typeof index !== 'string' && !(index instanceof Document)) throw new CommandError(9, 'FailedToParse', 'Hint must be a string or an object');
    }
    return value;
  },
};

const HINT_FIELDS = { ns: required(objectField), allowedIndexes: required(allowedField) } satisfies FieldTable;

const NAMESPACE_FIELDS = { db: stringField, coll: stringField } satisfies FieldTable;

interface IndexHint {
  readonly ns: Namespace;
  readonly allowed: readonly Value[];
}

function readHint(value: Value, at: string): IndexHint {
  if (!(value instanceof Document)) throw wrongType(at, value, `types '[array, object]'`);
  const { ns, allowedIndexes } = parseFields(at, value, HINT_FIELDS);
  const { db, coll } = parseFields(`${at}.ns`, ns, NAMESPACE_FIELDS);
  if (db === undefined) throw new CommandError(8727500, 'Location8727500', `index hints need the 'db' of their namespace`);
  if (coll === undefined) throw new CommandError(8727501, 'Location8727501', `index hints need the 'coll' of their namespace`);
  return { ns: namespaceOf(db, coll), allowed: allowedIndexes.items() };
}

function readHints(value: Value, at: string): readonly IndexHint[] {
  const hints = (value instanceof BsonArray ? value.items() : [value]).map((hint) => readHint(hint, at));
  const names = new Set(hints.map(({ ns }) => ns.text));
  if (names.size === hints.length) return hints;
  throw new CommandError(7746608, 'Location7746608', 'a collection can have only one set of index hints');
}

const SETTINGS_FIELDS = {
  indexHints: { types: ['array', 'object'], required: false, read: (value: Value, at: string) => ({ value, hints: readHints(value, at) }) },
  queryFramework: wordField(['classic', 'sbe']),
  reject: { ...strictBoolField, nullIsWrong: true },
  comment: anyField,
} satisfies FieldTable;

/** What applies to all queries of a shape. */
export class QuerySettings {
  /** As they were set, for whoever asks; without what says nothing. */
  readonly document: Document;
  /** Whether the queries are refused. */
  readonly reject: boolean;
  readonly #hints: readonly IndexHint[];

  private constructor(document: Document, reject: boolean, hints: readonly IndexHint[]) {
    this.document = document;
    this.reject = reject;
    this.#hints = hints;
  }

  /** Reads settings; `before` are those that stand, of which what is not said anew stays. */
  static read(given: Document, before?: QuerySettings): QuerySettings {
    if (given.isEmpty) throw new CommandError(8727502, 'Location8727502', 'the settings of a query shape cannot be empty');
    parseFields(OWNER, given, SETTINGS_FIELDS);
    const kept = (before?.document.fields ?? []).filter(([name]) => !given.has(name));
    return QuerySettings.stored(Document.fromEntries([...kept, ...given.fields]));
  }

  /** Settings that were read before. */
  static stored(given: Document): QuerySettings {
    const { indexHints, queryFramework, reject } = parseFields(OWNER, given, SETTINGS_FIELDS);
    const hints = (indexHints?.hints ?? []).filter(({ allowed }) => allowed.length > 0);
    if (hints.length === 0 && queryFramework === undefined && reject !== true) {
      throw new CommandError(7746604, 'Location7746604', 'the settings of a query shape cannot be all empty or the default: use removeQuerySettings');
    }
    const says = (name: string): boolean => (name === 'indexHints' ? hints.length > 0 : name !== 'reject' || reject === true);
    return new QuerySettings(Document.fromEntries(given.fields.filter(([name]) => says(name))), reject === true, hints);
  }

  /** Names, key patterns and `$natural` of what a query of the shape may use of a collection; undefined: anything. */
  indexesFor(namespace: string): readonly Value[] | undefined {
    return this.#hints.find(({ ns }) => ns.text === namespace)?.allowed;
  }
}
