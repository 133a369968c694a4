// The shape of a whole command: find, distinct and aggregate with all that tells queries apart but the values they ask for, and the hash that
// names it. Hints and limits of time are no part of it. Follows the manual's page "Query Shapes".

import { sha256Hex } from '../../auth/index.ts';
import { Document, isNumber, isZero, type Value } from '../../bson/index.ts';
import { expressionsShape } from './expression-shape.ts';
import { filterShape } from './filter-shape.ts';
import { pipelineShape, projectionShape } from './pipeline-shape.ts';
import { placeholder } from './placeholder.ts';

/** Commands that have shapes. */
export type ShapedCommand = 'find' | 'distinct' | 'aggregate';

/** A shape and its name. */
export interface QueryShape {
  readonly command: ShapedCommand;
  /** In words for people (`debugQueryShape`). */
  readonly document: Document;
  /** SHA-256 of the shape in 64 hexadecimal digits. */
  readonly hash: string;
}

type FieldRule = (value: Value) => Value | undefined;

const asItIs: FieldRule = (value) => value;
const filterField: FieldRule = (value) => (value instanceof Document ? filterShape(value) : undefined);
const unlessEmpty = (rule: FieldRule): FieldRule => (value) => (value instanceof Document && value.isEmpty ? undefined : rule(value));
const ifTrue: FieldRule = (value) => (value === true ? true : undefined);
const unlessZero: FieldRule = (value) => (isNumber(value) && isZero(value) ? undefined : placeholder(value));
const literals: FieldRule = (value) => (value instanceof Document ? Document.fromEntries(value.fields.map(([name, inner]) => [name, placeholder(inner)])) : undefined);

/** In the order of the shape; what a command does not say is not in it. */
const RULES: Readonly<Record<ShapedCommand, ReadonlyMap<string, FieldRule>>> = {
  find: new Map<string, FieldRule>([
    ['filter', filterField],
    ['sort', unlessEmpty(asItIs)],
    ['projection', unlessEmpty(projectionShape)],
    ['skip', unlessZero],
    ['limit', unlessZero],
    ['singleBatch', ifTrue],
    ['returnKey', ifTrue],
    ['showRecordId', ifTrue],
    ['tailable', ifTrue],
    ['awaitData', ifTrue],
    ['oplogReplay', ifTrue],
    ['min', unlessEmpty(literals)],
    ['max', unlessEmpty(literals)],
    ['collation', unlessEmpty(asItIs)],
    ['let', unlessEmpty(expressionsShape)],
  ]),
  distinct: new Map<string, FieldRule>([
    ['key', asItIs],
    ['query', unlessEmpty(filterField)],
    ['collation', unlessEmpty(asItIs)],
  ]),
  aggregate: new Map<string, FieldRule>([
    ['pipeline', pipelineShape],
    ['allowDiskUse', asItIs],
    ['collation', unlessEmpty(asItIs)],
    ['let', unlessEmpty(expressionsShape)],
  ]),
};

/** Where the command looks: `$cmd.aggregate` where it names no collection. */
export function shapeCollection(target: Value): string {
  return typeof target === 'string' ? target : '$cmd.aggregate';
}

/** The shape of a command's body on a database. The body has been read by the command's own table of fields. */
export function queryShapeOf(command: ShapedCommand, db: string, body: Document): QueryShape {
  const fields: [string, Value][] = [
    ['cmdNs', Document.of({ db, coll: shapeCollection(body.first?.[1] ?? null) })],
    ['command', command],
  ];
  for (const [name, rule] of RULES[command]) {
    const value = body.get(name) ?? (name === 'filter' ? Document.empty : undefined);
    const shape = value === undefined ? undefined : rule(value);
    if (shape !== undefined) fields.push([name, shape]);
  }
  const document = Document.fromEntries(fields);
  return { command, document, hash: sha256Hex(document.toBytes()) };
}

/** The command that a body is, if it is one that has a shape. */
export function shapedCommand(body: Document): ShapedCommand | undefined {
  const name = body.first?.[0];
  return name === 'find' || name === 'distinct' || name === 'aggregate' ? name : undefined;
}

