// Array filters: which elements of an array `$[<identifier>]` means. Follows the manual's page "$[<identifier>]".

import { encodeUtf8 } from '../../base/text.ts';
import type { Document } from '../../bson/index.ts';
import { compileFilter } from '../filter/filter.ts';
import type { Filter, QueryOptions } from '../filter/filter.ts';
import type { FilterNode } from '../filter/node.ts';
import { refuse } from '../refuse.ts';
import type { UpdatePath } from './path.ts';
import type { RawValue } from './raw-value.ts';

const IDENTIFIER = /^[a-z][a-zA-Z0-9]*$/;

/** A document `{ <name>: <value> }` around a raw value, for conditions that speak of a value by that name. */
export function wrapValue(name: Uint8Array, value: RawValue): Uint8Array {
  const length = 4 + 1 + name.length + 1 + (value.end - value.start) + 1;
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setInt32(0, length, true);
  bytes[4] = value.type;
  bytes.set(name, 5);
  bytes.set(value.toBytes(), 6 + name.length);
  return bytes;
}

interface ArrayFilter {
  readonly filter: Filter;
  readonly name: Uint8Array;
  used: boolean;
}

/** The array filters of one update, by identifier. */
export class ArrayFilters {
  readonly #filters: ReadonlyMap<string, ArrayFilter>;

  private constructor(filters: ReadonlyMap<string, ArrayFilter>) {
    this.#filters = filters;
  }

  /** Parses the `arrayFilters` of a command. */
  static parse(documents: readonly Document[], options: QueryOptions): ArrayFilters {
    const filters = new Map<string, ArrayFilter>();
    for (const document of documents) {
      const filter = compileFilter(document, options, 'arrayFilter');
      const names = new Set<string>();
      collectNames(filter.shape, names);
      const [name, other] = [...names];
      if (name === undefined) throw refuse(9, 'Cannot use an expression without a top-level field name in arrayFilters');
      if (other !== undefined) {
        throw refuse(9, `Error parsing array filter :: caused by :: Expected a single top-level field name, found '${name}' and '${other}'`);
      }
      if (!IDENTIFIER.test(name)) {
        throw refuse(
          2,
          `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${name}'`,
        );
      }
      if (filters.has(name)) throw refuse(9, `Found multiple array filters with the same top-level field name ${name}`);
      filters.set(name, { filter, name: encodeUtf8(name), used: false });
    }
    return new ArrayFilters(filters);
  }

  /** Notes the identifiers of a path as used; refuses one that has no filter. */
  use(path: UpdatePath): void {
    for (const part of path.parts) {
      if (part.kind !== 'elements' || part.identifier === '') continue;
      const found = this.#filters.get(part.identifier);
      if (found === undefined) throw refuse(2, `No array filter found for identifier '${part.identifier}' in path '${path.text}'`);
      found.used = true;
    }
  }

  /** Refuses filters that no path uses; `update` is for the text. */
  refuseUnused(update: () => string): void {
    for (const [name, { used }] of this.#filters) {
      if (!used) throw refuse(9, `The array filter for identifier '${name}' was not used in the update ${update()}`);
    }
  }

  /** Whether an element is one that `$[identifier]` means; '' means all. */
  matches(identifier: string, element: RawValue): boolean {
    if (identifier === '') return true;
    const found = this.#filters.get(identifier);
    return found?.filter.matchesRaw(wrapValue(found.name, element), 0) ?? false;
  }
}

/** The first components of all paths in a filter. */
function collectNames(node: FilterNode, names: Set<string>): void {
  switch (node.kind) {
    case 'and':
    case 'or':
      for (const child of node.children) collectNames(child, names);
      return;
    case 'not':
      collectNames(node.child, names);
      return;
    case 'always':
    case 'schema':
    case 'text':
      return;
    case 'expr':
      throw refuse(224, '$expr is not allowed in this context');
    default: {
      const first = node.path.parts[0];
      if (first !== undefined) names.add(first.name.text);
    }
  }
}
