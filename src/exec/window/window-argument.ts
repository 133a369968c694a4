// What window operators with an argument of several fields ask of it, and of the order of their stage.
// Follows the manual's page "$setWindowFields (aggregation)", section "Window Operators".

import { Document } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import type { WindowOrder } from './frame.ts';

/** The argument of `name`, an object of these fields alone; beside it only `window` may stand. */
export function windowArgument(specification: Document, name: string, fields: readonly string[]): Document {
  const beside = specification.keys().find((key) => key !== name && key !== 'window');
  if (beside !== undefined) throw refuse(9, `${name} got unexpected argument: ${beside}`);
  const argument = specification.get(name) ?? null;
  if (!(argument instanceof Document)) throw refuse(9, `${name} expects an object, but got a ${nameOf(argument)}`);
  const unknown = argument.keys().find((key) => !fields.includes(key));
  if (unknown !== undefined) throw refuse(9, `${name} got unexpected argument: ${unknown}`);
  return argument;
}

/** The one field that the stage sorts by. */
export function onlySortField({ sortBy }: WindowOrder, name: string): string {
  const [field, second] = sortBy?.fields ?? [];
  if (field === undefined) throw refuse(9, `${name} requires a sortBy`);
  if (second !== undefined) throw refuse(9, `${name} requires a non-compound sortBy`);
  if (field[1] instanceof Document) throw refuse(9, `${name} requires a non-expression sortBy`);
  return field[0];
}
