// The geospatial operators of filters: `$geoWithin` (once `$within`), `$geoIntersects`, `$near`, `$nearSphere`.

import { describeValue, Document } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import type { GeoNode, NearNode } from '../filter/node.ts';
import { refuse } from '../refuse.ts';
import { shapeAt } from './geometry.ts';
import { isNear, nearDistance, readNear } from './near.ts';
import { readRegion } from './region.ts';
import type { Region } from './region.ts';

/** The node of `$geoWithin` or `$geoIntersects`. */
export function parseRegion(path: Path, operand: Value, name: string, siblings: Document): GeoNode {
  const extra = siblings.fields.find(([sibling]) => sibling !== name);
  if (extra !== undefined) throw refuse(2, `can't parse extra field: ${extra[0]}: ${describeValue(extra[1])}`);
  if (!(operand instanceof Document)) throw refuse(2, 'geometry must be an object');
  let region: Region | undefined;
  for (const [specifier, value] of operand.fields) if (specifier !== '$uniqueDocs') region = readRegion(specifier, value);
  if (region === undefined) throw refuse(2, 'geo query doesn\'t have any geometry');
  const relation = name === '$geoIntersects' ? 'meets' : 'within';
  const test = relation === 'meets' ? region.meets : region.contains;
  if (test === undefined) throw refuse(2, `${relation === 'meets' ? '$geoIntersect' : '$within'} not supported with provided geometry: ${describeValue(operand)}`);
  return {
    kind: 'geo', path, relation, region, operand,
    test: (bytes, type, at) => {
      const shape = shapeAt(bytes, type, at);
      return shape !== undefined && test(shape);
    },
  };
}

/** The node of `$near` or `$nearSphere`. */
export function parseNear(path: Path, operand: Value, name: '$near' | '$nearSphere', siblings: Document): NearNode {
  const query = readNear(name, operand, siblings);
  return {
    kind: 'near', path, query, operand,
    test: (bytes, type, at) => {
      const shape = shapeAt(bytes, type, at);
      const distance = shape === undefined ? undefined : nearDistance(query, shape);
      return distance !== undefined && isNear(query, distance);
    },
  };
}
