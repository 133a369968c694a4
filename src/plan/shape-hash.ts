// The shape of a query, its values left out, as short hashes: plans of one shape are alike (manual: "Plan Cache Query Shape").

import { crc32c } from '../base/crc32c.ts';
import { encodeUtf8 } from '../base/text.ts';
import { describeValue, type Document } from '../bson/index.ts';
import type { FilterNode } from '../query/index.ts';
import type { QueryRequest } from './types.ts';

/** The hash of a request's shape: operators and paths of the filter, sort, projection and collation. Eight hexadecimal digits. */
export function shapeHash(request: QueryRequest): string {
  return hashOf(queryShape(request));
}

/** The whole shape as a text, with the collation: queries of one text are alike for index filters. */
export function queryShape({ filter, given, collation }: Pick<QueryRequest, 'filter' | 'given' | 'collation'>): string {
  const locale = collation === undefined ? '' : collation.spec.fields.map(([name, value]) => `${name}:${describeValue(value)}`).join(',');
  return `${shapeOf(filter.shape)};${orderOf(given?.sort)};${fieldsOf(given?.projection)};${locale}`;
}

/** The hash of the shape together with the indexes that a plan may use. */
export function planKeyHash(request: QueryRequest, indexes: readonly string[]): string {
  return hashOf(`${shapeHash(request)};${[...indexes].sort().join(',')}`);
}

function hashOf(text: string): string {
  const bytes = encodeUtf8(text);
  return (crc32c(bytes, 0, bytes.length) >>> 0).toString(16).toUpperCase().padStart(8, '0');
}

function shapeOf(node: FilterNode): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return `${node.kind}(${node.children.map(shapeOf).sort().join(',')})`;
    case 'not':
      return `not(${shapeOf(node.child)})`;
    case 'expr':
      return node.kind;
    case 'schema':
      return `schema(${describeValue(node.schema)})`;
    case 'always':
      return `always ${node.value}`;
    case 'text':
      return 'text';
    case 'elemMatchObject':
      return `${node.path.text} elemMatch(${shapeOf(node.child)})`;
    case 'elemMatchValue':
      return `${node.path.text} elemMatch(${node.children.map(shapeOf).sort().join(',')})`;
    case 'compare':
      return `${node.path.text} ${node.operator}`;
    case 'bits':
      return `${node.path.text} ${node.operator}`;
    default:
      return `${node.path.text} ${node.kind}`;
  }
}

const orderOf = (sort: Document | undefined): string => (sort?.fields ?? []).map(([path, way]) => `${path}:${typeof way === 'number' ? way : 1}`).join(',');

const fieldsOf = (projection: Document | undefined): string => (projection?.fields ?? []).map(([path, how]) => `${path}:${how === 0 || how === false ? 0 : 1}`).sort().join(',');
