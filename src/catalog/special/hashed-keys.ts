// Entries of a hashed index: the hash of one field, the other fields as they are (manual: "Hashed Indexes"). Arrays are refused, wherever they
// lie on an indexed path.

import { BsonArray, collated, Document, hashValue } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import type { Direction } from '../../engine/index.ts';
import { CommandError } from '../../base/errors.ts';
import type { SpecialDocumentKeys, SpecialKeys } from './special-keys.ts';

/** What a hashed index holds of an equality with this value. */
function hashedPoint(value: Value): bigint {
  return hashValue(value);
}

/** The entries of a hashed index: one for each document. */
export class HashedKeys implements SpecialKeys {
  readonly directions: readonly Direction[];
  readonly #paths: readonly (readonly string[])[];
  readonly #hashed: readonly boolean[];
  readonly #sparse: boolean;
  readonly #order: TextOrder | undefined;

  constructor(key: Document, { directions, sparse, collation }: { directions: readonly Direction[]; sparse: boolean; collation: TextOrder | undefined }) {
    this.directions = directions;
    this.#paths = key.keys().map((path) => path.split('.'));
    this.#hashed = key.fields.map(([, value]) => value === 'hashed');
    this.#sparse = sparse;
    this.#order = collation;
  }

  keysOf(document: Document): SpecialDocumentKeys {
    const found = this.#paths.map((path) => valueAt(document, path));
    if (this.#sparse && found.every((value) => value === undefined)) return { keys: [], isMultikey: false };
    const plain = found.map((value) => value ?? null);
    const values = plain.map((value, field) => {
      const under = collated(value, this.#order);
      return this.#hashed[field] === true ? hashedPoint(under) : under;
    });
    return { keys: [{ values, plain }], isMultikey: false };
  }
}

function valueAt(document: Document, path: readonly string[]): Value | undefined {
  let at: Value | undefined = document;
  for (const name of path) {
    at = at instanceof Document ? at.get(name) : undefined;
    if (at instanceof BsonArray) {
      throw new CommandError(16766, 'Location16766', `hashed indexes do not currently support array values. Found array at path: ${path.join('.')}`);
    }
  }
  return at;
}
