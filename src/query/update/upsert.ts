// The document that an upsert starts from: the fields that the query fixes by equality. Follows the manual's page "db.collection.update():
// Upsert Behavior".

import { compareStrings, Document } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import type { FilterNode } from '../filter/node.ts';
import { refuse } from '../refuse.ts';

interface Equality {
  readonly path: Path;
  readonly value: Value;
}

/** The equalities that every matching document fulfils. */
function collectEqualities(node: FilterNode, found: Map<string, Equality>): void {
  if (node.kind === 'and') {
    for (const child of node.children) collectEqualities(child, found);
    return;
  }
  if (node.kind !== 'compare' || node.operator !== 'eq') return;
  const { text } = node.path;
  if (found.has(text)) throw refuse(54, `cannot infer query fields to set, path '${text}' is matched twice`);
  for (const other of found.keys()) {
    if (other.startsWith(`${text}.`) || text.startsWith(`${other}.`)) {
      const [shorter, longer] = other.length < text.length ? [other, text] : [text, other];
      throw refuse(54, `cannot infer query fields to set, both paths '${shorter}' and '${longer}' are matched`);
    }
  }
  found.set(text, { path: node.path, value: node.value });
}

/** Fields being put together, in the order of their first appearance. */
type Fields = Map<string, Value | Fields>;

function toDocument(fields: Fields): Document {
  return Document.fromEntries([...fields].map(([name, value]) => [name, value instanceof Map ? toDocument(value) : value]));
}

/** The fields that the filter fixes. `replacing`: only the `_id`, as the rest comes from the replacement. */
export function documentOfFilter(shape: FilterNode, replacing: boolean): Document {
  const found = new Map<string, Equality>();
  collectEqualities(shape, found);
  const root: Fields = new Map();
  for (const [text, { path, value }] of [...found].sort(([a], [b]) => compareStrings(a, b))) {
    if (replacing) {
      if (text.startsWith('_id.')) {
        throw refuse(54, `field at '_id' must be exactly specified, field at sub-path '${text}'found`);
      }
      if (text !== '_id') continue;
    }
    let level = root;
    path.parts.forEach((part, index) => {
      const name = part.name.text;
      if (index === path.parts.length - 1) {
        level.set(name, value);
        return;
      }
      const known = level.get(name);
      const next: Fields = known instanceof Map ? known : new Map<string, Value | Fields>();
      level.set(name, next);
      level = next;
    });
  }
  return toDocument(root);
}
