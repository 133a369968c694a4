// A condition as MongoDB's `explain` prints parsed filters: every operator written out, `$and` and `$or` as lists.

import { BsonArray, Document, Regex } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { FilterNode, PathNode } from '../query/index.ts';

const field = (path: string, operator: string, value: Value): Document => Document.fromEntries([[path, Document.fromEntries([[operator, value]])]]);

/** `{ a: { $eq: 1 } }`; an empty document for a filter that matches all. */
export function describeFilter(node: FilterNode): Document {
  switch (node.kind) {
    case 'and':
      return node.children.length === 0 ? Document.empty : Document.of({ $and: BsonArray.of(node.children.map(describeFilter)) });
    case 'or':
      return Document.of({ $or: BsonArray.of(node.children.map(describeFilter)) });
    case 'not':
      return describeNot(node.child);
    case 'always':
      return Document.fromEntries([[node.value ? '$alwaysTrue' : '$alwaysFalse', 1]]);
    case 'expr':
      return Document.of({ $expr: Document.empty });
    case 'schema':
      return Document.of({ $jsonSchema: node.schema });
    case 'text':
      return Document.of({ $text: node.operand });
    default:
      return describePathNode(node, node.path.text);
  }
}

function describeNot(child: FilterNode): Document {
  if (child.kind === 'or') return Document.of({ $nor: BsonArray.of(child.children.map(describeFilter)) });
  if (!('path' in child)) {
    return Document.of({ $nor: BsonArray.of([describeFilter(child)]) });
  }
  const inner = describePathNode(child, child.path.text).first?.[1] ?? null;
  return field(child.path.text, '$not', inner);
}

function describePathNode(node: PathNode, path: string): Document {
  switch (node.kind) {
    case 'compare':
      return field(path, `$${node.operator}`, node.value);
    case 'in':
      return field(path, '$in', BsonArray.of([...node.values, ...node.patterns.map(({ source, flags }) => new Regex(source, flags))]));
    case 'regex':
      return Document.fromEntries([[path, Document.of({ $regex: node.pattern.source, $options: node.pattern.flags === '' ? undefined : node.pattern.flags })]]);
    case 'exists':
      return field(path, '$exists', true);
    case 'type':
      return field(path, '$type', BsonArray.of([...node.types]));
    case 'size':
      return field(path, '$size', node.size);
    case 'mod':
      return field(path, '$mod', BsonArray.of([node.divisor, node.remainder]));
    case 'bits':
      return field(path, node.operator, BsonArray.of([...node.positions]));
    case 'geo':
      return field(path, node.relation === 'meets' ? '$geoIntersects' : '$geoWithin', node.operand);
    case 'near':
      return field(path, '$near', node.operand);
    case 'elemMatchObject':
      return field(path, '$elemMatch', describeFilter(node.child));
    case 'elemMatchValue':
      return field(path, '$elemMatch', Document.fromEntries(node.children.flatMap((child) => operatorsOf(child))));
  }
}

/** The operators of a condition on an element: without the path. */
function operatorsOf(child: FilterNode): readonly (readonly [string, Value])[] {
  const [, inner] = describeFilter(child).first ?? [];
  return inner instanceof Document ? inner.fields : [];
}
