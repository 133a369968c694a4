// `clusteredIndex`: documents in the order of `_id`. Every collection is that here, so the option is checked, kept, and shown.
// Follows the manual's page "Clustered Collections".

import { CommandError } from '../base/errors.ts';
import { Document, isNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { numberOf, wholeOf } from './number.ts';
import { checkFields, isTrue, presentField, wrongType } from './option-check.ts';
import { invalidIndexOption, invalidOptions } from './refusal.ts';

const fields: ReadonlySet<string> = new Set(['v', 'key', 'name', 'unique']);

const refuse = (code: number, text: string): CommandError => new CommandError(code, `Location${String(code)}`, text);

/** The index as it is kept; undefined where the option says that there is none. 5979700, 5979703, 5979704, 197 ... */
export function parseClusteredIndex(value: Value): Document | undefined {
  const name = 'clusteredIndex';
  if (typeof value === 'boolean' || isNumber(value)) {
    if (!isTrue(value)) return undefined;
    throw refuse(5979703, `The 'clusteredIndex' option must be an object to be specified as true`);
  }
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  checkFields(value, fields, name);
  const key = presentField(value, 'key', name);
  const unique = presentField(value, 'unique', name);
  const label = value.get('name') ?? '_id_';
  if (!(key instanceof Document)) throw wrongType(`${name}.key`, key, 'object');
  if (typeof unique !== 'boolean' && !isNumber(unique)) throw wrongType(`${name}.unique`, unique, '[bool, long, int, decimal, double]');
  if (typeof label !== 'string') throw wrongType(`${name}.name`, label, 'string');
  checkVersion(value.get('v') ?? 2);
  if (key.fields.length !== 1 || numberOf(key.get('_id')) !== 1) throw invalidIndexOption("The 'clusteredIndex' option is only supported for key: {_id: 1}");
  if (!isTrue(unique)) throw refuse(5979700, "The 'clusteredIndex' option requires unique: true to be specified");
  return Document.of({ v: 2, key: Document.of({ _id: 1 }), name: label, unique: true });
}

function checkVersion(version: Value): void {
  if (!isNumber(version)) throw wrongType('clusteredIndex.v', version, '[long, int, decimal, double]');
  if (wholeOf(version) !== 2n) throw refuse(5979704, "The only supported version of 'clusteredIndex' is v: 2");
}

/** Options that a clustered collection cannot have beside it; whether the option says yes or no does not matter for some. */
export function checkClusteredWith(given: Document): void {
  if (!given.has('clusteredIndex')) return;
  if (isTrue(given.get('capped'))) throw refuse(6049200, "The 'clusteredIndex' option is not supported for capped collections");
  if (!(given.get('clusteredIndex') instanceof Document)) return;
  if (given.has('viewOn')) throw refuse(6026500, "The 'clusteredIndex' option is not supported with views");
  if (given.has('timeseries')) throw invalidOptions("The 'clusteredIndex' option is not supported with time-series collections");
  if (given.has('idIndex')) throw invalidOptions("The 'clusteredIndex' option is not supported with the 'idIndex' option");
  if (given.has('max')) throw refuse(6049204, "The 'max' option is not supported for clustered collections");
}
