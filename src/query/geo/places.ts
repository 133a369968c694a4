// The shapes at a path of a document: for the distance of a document, and for its entries in an index.

import { BsonArray, decodeValue, Document } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { PathWalk } from '../filter/path.ts';
import { shapeAt } from './geometry.ts';
import type { NearQuery } from './near.ts';
import { isNear, nearDistance } from './near.ts';

/** A shape's distance, and the value that it was read from. */
export interface Place {
  readonly distance: number;
  readonly value: Value;
}

/** The nearest place of a document at the path that the query lets through; undefined where there is none. */
export function nearestPlace(query: NearQuery, path: Path, document: Document): Place | undefined {
  let nearest: Place | undefined;
  const walk = new PathWalk(path, (bytes, type, at) => {
    const shape = shapeAt(bytes, type, at);
    const distance = shape === undefined ? undefined : nearDistance(query, shape);
    if (distance !== undefined && isNear(query, distance) && (nearest === undefined || distance < nearest.distance)) nearest = { distance, value: decodeValue(bytes, type, at) };
    return false;
  }, true);
  const { bytes, start } = document.raw;
  walk.match(bytes, start);
  return nearest;
}

/** Values at a dotted path of a document, arrays on the way entered, an array at its end given whole. */
export function valuesAt(document: Document, path: readonly string[]): Value[] {
  const [name, ...rest] = path;
  if (name === undefined) return [document];
  const value = document.get(name);
  if (value === undefined) return [];
  if (rest.length === 0) return [value];
  if (value instanceof Document) return valuesAt(value, rest);
  if (value instanceof BsonArray) {
    const [index = '', ...behind] = rest;
    const item = /^\d+$/.test(index) ? value.items()[Number(index)] : undefined;
    const at = item === undefined ? [] : behind.length === 0 ? [item] : item instanceof Document ? valuesAt(item, behind) : [];
    return [...at, ...value.items().flatMap((each) => (each instanceof Document ? valuesAt(each, rest) : []))];
  }
  return [];
}
