// Updates of documents that are written without a read: the operators travel as a message of the engine and meet the document in a read or a merge,
// there as in the command `update`. A document that refuses them stays as it is, and one that is not there stays so, as TokuMX had it. What this
// module exports is loaded by the tree worker too.

import { crc32c } from '../base/crc32c.ts';
import { CommandError } from '../base/errors.ts';
import { DateTime, Document, Timestamp } from '../bson/index.ts';
import type { UpdateFunction, UpdateTable } from '../engine/index.ts';
import { compileUpdate } from '../query/index.ts';
import type { Update } from '../query/index.ts';

/** Number of the function in the files; it never changes its meaning. */
export const operatorsFunction = 1;

/** Operators that ask for nothing but the document: no time, no place of a match. */
const fastOperators: ReadonlySet<string> = new Set(['$set', '$unset', '$inc', '$mul', '$min', '$max', '$bit', '$push', '$addToSet', '$pop', '$pullAll']);

/** The operators use none of it. */
const surroundings = { now: new DateTime(0), timestamp: new Timestamp(0, 0) };

/** How many updates documents have refused on this thread; one that many reads meet before a merge does counts once. */
export const fastUpdateErrors: { count: number } = { count: 0 };

/** Refusals of late, by what was refused. */
const refusals: Set<string> = new Set();
const refusalsMax = 4096;

function countRefusal(value: Uint8Array, argument: Uint8Array): void {
  const name = `${crc32c(value, 0, value.length)} ${value.length} ${crc32c(argument, 0, argument.length)}`;
  if (refusals.has(name)) return;
  if (refusals.size >= refusalsMax) refusals.clear();
  refusals.add(name);
  fastUpdateErrors.count += 1;
}

/** Updates compiled of late, by their bytes. */
const compiled: Map<string, Update> = new Map();
const compiledMax = 64;

function compiledOf(argument: Uint8Array): Update {
  const name = argument.length > 1024 ? '' : String.fromCharCode(...argument);
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const update = compileUpdate(Document.fromBytes(argument.slice()), { now: surroundings.now });
  if (name === '') return update;
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(name, update);
  return update;
}

const operators: UpdateFunction = {
  apply: (value, argument) => {
    if (value === undefined) return undefined;
    try {
      return compiledOf(argument).apply(Document.fromBytes(value), surroundings).doc.toBytes();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      countRefusal(value, argument);
      return value;
    }
  },
  takes: (argument) => isFast(Document.fromBytes(argument)),
};

/** The functions that the server's environments are opened with. */
export const updateTable: UpdateTable = { functions: new Map([[operatorsFunction, operators]]), module: import.meta.url };

/** Whether an update has such operators only. */
export function isFast(update: Document): boolean {
  return update.fields.every(([operator, fields]) => fastOperators.has(operator) && fields instanceof Document);
}
