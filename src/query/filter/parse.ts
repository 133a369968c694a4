// From a filter document to its tree. Two tables: operators that stand by themselves at the top of a document, and operators that stand
// below a field's path. What is in neither is refused by name with MongoDB's texts.
// Follows the manual's page "Query and Projection Operators".

import { mappedItems } from '../../base/long-lists.ts';
import { madeOnce } from '../../base/long-work.ts';
import { BsonArray, bsonUndefined, Document, hasText, isNumber, parsePath, Regex, toDouble } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { compileExpression } from '../expression/compile.ts';
import type { ExpressionOptions } from '../expression/expression.ts';
import { parseNear, parseRegion } from '../geo/parse.ts';
import { overElements } from '../elements.ts';
import { refuse } from '../refuse.ts';
import { parseTextSearch } from '../text/text-search.ts';
import type { Pattern } from '../regex.ts';
import { isTruthy } from '../truth.ts';
import { andOf, matchAll, notOf, orOf } from './node.ts';
import type { CompareOperator, FilterNode } from './node.ts';
import { parseBits, parseMod, parseRegex, parseSize, parseTypeSet, regexNode } from './operand.ts';
import { selfPath } from './path.ts';
import { compileSchema } from './schema/schema.ts';

const DEPTH_MAX = 100;

/** Where a filter's document stands, and what compiling it needs. */
interface Scope {
  readonly options: ExpressionOptions;
  /** What may stand here: `$expr`, `$where` and `$text` only in a query's filter, outside of `$elemMatch`. */
  readonly place: FilterPlace;
  readonly depth: number;
  /** Whether it is inside `$nor`. */
  readonly withinNor?: boolean;
}

/** Where a filter is written; `match` is a stage's, `single` one that is asked of documents one by one (a validator, a list). */
export type FilterPlace = 'query' | 'match' | 'single' | 'elemMatch' | 'arrayFilter';

/** Parses a filter. Throws CommandError as MongoDB does. */
export function parseFilter(filter: Document, options: ExpressionOptions, place: FilterPlace = 'query'): FilterNode {
  const node = parseDocument(filter, { options, place, depth: 0 });
  if (node.kind === 'and') checkSearches(node.children);
  return node;
}

/** There is one search of texts at most, and none beside a query by distance. */
function checkSearches(nodes: readonly FilterNode[]): void {
  const searches = nodes.filter(({ kind }) => kind === 'text').length;
  if (searches > 1) throw refuse(2, 'Too many text expressions');
  if (searches > 0 && nodes.some(({ kind }) => kind === 'near')) throw refuse(2, 'text and geoNear not allowed in same query');
}

function deeper(scope: Scope): Scope {
  if (scope.depth >= DEPTH_MAX) throw refuse(2, `exceeded maximum query tree depth of ${String(DEPTH_MAX)}`);
  return { ...scope, depth: scope.depth + 1 };
}

function parseDocument(filter: Document, scope: Scope): FilterNode {
  const nodes: FilterNode[] = [];
  for (const [name, value] of filter.fields) {
    if (!name.startsWith('$')) {
      nodes.push(parseField(parsePath(name), value, scope));
      continue;
    }
    const rule = pathless.get(name);
    if (rule === undefined) throw refuse(2, unknownTopLevel(name));
    nodes.push(rule(value, scope, name));
  }
  return andOf(nodes);
}

function unknownTopLevel(name: string): string {
  const hint =
    name === '$not'
      ? 'If you are trying to negate an entire expression, use $nor.'
      : "If you have a field name that starts with a '$' symbol, consider using $getField or $setField.";
  return `unknown top level operator: ${name}. ${hint}`;
}

/** Whether a document holds operators: its first field begins with `$`, and it is no DBRef. */
function holdsOperators(value: Value): value is Document {
  if (!(value instanceof Document)) return false;
  const name = value.first?.[0];
  return name?.startsWith('$') === true && name !== '$ref' && name !== '$id' && name !== '$db';
}

/** Whether a value given for an element is a condition on it (`{ $gt: 3 }`), not a value or a filter of documents. */
export function isCondition(value: Value): value is Document {
  return holdsOperators(value) && !pathless.has(value.first?.[0] ?? '');
}

/** Parses a condition on an element as one of the value itself: its paths are empty. */
export function parseCondition(condition: Document, options: ExpressionOptions): FilterNode {
  return parseOperators(selfPath, condition, { options, place: 'elemMatch', depth: 0 });
}

function parseField(path: Path, value: Value, scope: Scope): FilterNode {
  if (holdsOperators(value)) return parseOperators(path, value, scope);
  if (value instanceof Regex) return regexNode(path, value.pattern, value.flags);
  return compareNode('eq', path, value, scope);
}

function parseOperators(path: Path, operators: Document, scope: Scope): FilterNode {
  const nodes: FilterNode[] = [];
  for (const [name, operand] of operators.fields) {
    const rule = byPath.get(name);
    if (rule === undefined) throw refuse(2, unknownOperator(name));
    const node = rule({ path, operand, name, siblings: operators, scope });
    if (node !== undefined) nodes.push(node);
  }
  return andOf(nodes);
}

function unknownOperator(name: string): string {
  return name === '$where' ? '$where cannot be applied to a field' : `unknown operator: ${name}`;
}

function compareNode(operator: CompareOperator, path: Path, value: Value, { options }: Scope): FilterNode {
  if (value === bsonUndefined) throw refuse(2, 'cannot compare to undefined');
  return { kind: 'compare', operator, path, value, collation: hasText(value) ? options.collation : undefined };
}

// Operators below a path.

interface Operation {
  readonly path: Path;
  readonly operand: Value;
  /** The operator, with `$`. */
  readonly name: string;
  /** The whole document of operators: `$regex` and `$options` belong together. */
  readonly siblings: Document;
  readonly scope: Scope;
}

/** Gives a node, or undefined for an operator that only qualifies another. */
type PathRule = (operation: Operation) => FilterNode | undefined;

function comparison(operator: CompareOperator): PathRule {
  return ({ path, operand, scope }) => {
    if (operand instanceof Regex) throw refuse(2, `Can't have RegEx as arg to predicate over field '${path.text}'.`);
    return compareNode(operator, path, operand, scope);
  };
}

function parseNotEqual({ path, operand, scope }: Operation): FilterNode {
  if (operand instanceof Regex) throw refuse(2, `Can't have regex as arg to $ne.`);
  return notOf(compareNode('eq', path, operand, scope));
}

function parseIn({ path, operand, name, scope }: Operation): FilterNode {
  if (!(operand instanceof BsonArray)) throw refuse(2, `${name} needs an array`);
  const begin = (): { values: Value[]; patterns: Pattern[] } => ({ values: [], patterns: [] });
  const { values, patterns } = overElements(operand, begin, (list, item) => {
    if (holdsOperators(item)) throw refuse(2, `cannot nest $ under ${name}`);
    if (item === bsonUndefined) throw refuse(2, 'InMatchExpression equality cannot be undefined');
    const node = item instanceof Regex ? regexNode(path, item.pattern, item.flags) : undefined;
    if (node?.kind === 'regex') list.patterns.push(node.pattern);
    else list.values.push(item);
  });
  const only = values[0];
  if (values.length === 1 && patterns.length === 0 && only !== undefined) return compareNode('eq', path, only, scope);
  return { kind: 'in', path, values, patterns, collation: values.some(hasText) ? scope.options.collation : undefined };
}

function parseNot({ path, operand, scope }: Operation): FilterNode {
  if (operand instanceof Regex) return notOf(regexNode(path, operand.pattern, operand.flags));
  if (!(operand instanceof Document)) throw refuse(2, '$not needs a regex or a document');
  if (operand.isEmpty) throw refuse(2, '$not cannot be empty');
  return notOf(parseOperators(path, operand, deeper(scope)));
}

function parseOptions({ siblings }: Operation): undefined {
  if (!siblings.has('$regex')) throw refuse(2, '$options needs a $regex');
  return undefined;
}

function parseElemMatch({ path, operand, scope }: Operation): FilterNode {
  if (!(operand instanceof Document)) throw refuse(2, '$elemMatch needs an Object');
  const inner: Scope = { ...deeper(scope), place: 'elemMatch' };
  if (isCondition(operand)) {
    const node = parseOperators(selfPath, operand, inner);
    return { kind: 'elemMatchValue', path, children: node.kind === 'and' ? node.children : [node] };
  }
  return { kind: 'elemMatchObject', path, child: parseDocument(operand, inner) };
}

function parseAll(operation: Operation): FilterNode {
  const { path, operand } = operation;
  if (!(operand instanceof BsonArray)) throw refuse(2, '$all needs an array');
  const items = operand.items();
  if (items.length === 0) return { kind: 'in', path, values: [], patterns: [] };
  if (isElemMatch(items[0])) {
    return andOf(
      items.map((item) => {
        const inner = isElemMatch(item) ? item.get('$elemMatch') : undefined;
        if (inner === undefined) throw refuse(2, '$all/$elemMatch has to be consistent');
        return parseElemMatch({ ...operation, operand: inner });
      }),
    );
  }
  return andOf(
    mappedItems(items, (item) => {
      if (item instanceof Regex) return regexNode(path, item.pattern, item.flags);
      if (holdsOperators(item) && byPath.has(item.first?.[0] ?? '')) throw refuse(2, 'no $ expressions in $all');
      return compareNode('eq', path, item, operation.scope);
    }),
  );
}

function isElemMatch(item: Value | undefined): item is Document {
  return item instanceof Document && item.first?.[0] === '$elemMatch';
}

function parseExists({ path, operand }: Operation): FilterNode {
  const exists: FilterNode = { kind: 'exists', path };
  return isTruthy(operand) ? exists : notOf(exists);
}

/** Orders by distance: at the top of a query's filter only, beside other conditions. */
function near(name: '$near' | '$nearSphere'): PathRule {
  return ({ scope, path, operand, siblings }) => {
    if (scope.place !== 'query') {
      throw refuse(
        5626500,
        '$geoNear, $near, and $nearSphere are not allowed in this context, as these operators require sorting geospatial data. ' +
          'If you do not need sort, consider using $geoWithin instead.',
      );
    }
    return parseNear(path, operand, name, siblings);
  };
}

/** An old name of `$near`, of which only the refusals are left. */
const geoNear: PathRule = (operation) => {
  if (operation.scope.place !== 'query') return near('$near')(operation);
  throw refuse(2, 'unknown operator: $geoNear');
};

function besideNear({ siblings, name }: Operation): undefined {
  if (!siblings.has('$near') && !siblings.has('$nearSphere')) throw refuse(2, `${name} needs a $near or $nearSphere`);
  return undefined;
}

const byPath: ReadonlyMap<string, PathRule> = new Map<string, PathRule>([
  ['$eq', ({ path, operand, scope }) => compareNode('eq', path, operand, scope)],
  ['$ne', parseNotEqual],
  ['$lt', comparison('lt')],
  ['$lte', comparison('lte')],
  ['$gt', comparison('gt')],
  ['$gte', comparison('gte')],
  ['$in', parseIn],
  ['$nin', (operation) => notOf(parseIn(operation))],
  ['$not', parseNot],
  ['$exists', parseExists],
  ['$type', ({ path, operand }) => ({ kind: 'type', path, types: parseTypeSet(operand) })],
  ['$size', ({ path, operand }) => parseSize(path, operand)],
  ['$all', parseAll],
  ['$elemMatch', parseElemMatch],
  ['$mod', ({ path, operand }) => parseMod(path, operand)],
  ['$regex', ({ path, operand, siblings }) => parseRegex(path, operand, siblings)],
  ['$options', parseOptions],
  ['$geoWithin', ({ path, operand, name, siblings }) => parseRegion(path, operand, name, siblings)],
  ['$within', ({ path, operand, name, siblings }) => parseRegion(path, operand, name, siblings)],
  ['$geoIntersects', ({ path, operand, name, siblings }) => parseRegion(path, operand, name, siblings)],
  ['$near', near('$near')],
  ['$geoNear', geoNear],
  ['$nearSphere', near('$nearSphere')],
  ['$maxDistance', besideNear],
  ['$minDistance', besideNear],
  ['$bitsAllSet', ({ path, operand }) => parseBits(path, operand, '$bitsAllSet')],
  ['$bitsAllClear', ({ path, operand }) => parseBits(path, operand, '$bitsAllClear')],
  ['$bitsAnySet', ({ path, operand }) => parseBits(path, operand, '$bitsAnySet')],
  ['$bitsAnyClear', ({ path, operand }) => parseBits(path, operand, '$bitsAnyClear')],
]);

// Operators that stand by themselves.

type PathlessRule = (operand: Value, scope: Scope, name: string) => FilterNode;

function parseBranches(operand: Value, scope: Scope, name: string): readonly FilterNode[] {
  if (!(operand instanceof BsonArray)) throw refuse(2, `${name} must be an array`);
  if (operand.isEmpty) throw refuse(2, '$and/$or/$nor must be a nonempty array');
  const inner: Scope = name === '$nor' ? { ...deeper(scope), withinNor: true } : deeper(scope);
  return mappedItems(operand.items(), (item) => {
    if (!(item instanceof Document)) throw refuse(2, '$or/$and/$nor entries need to be full objects');
    return parseDocument(item, inner);
  });
}

function parseExpr(operand: Value, scope: Scope): FilterNode {
  if (scope.place === 'arrayFilter') throw refuse(224, '$expr is not allowed in this context');
  if (scope.place === 'elemMatch') throw refuse(2, '$expr can only be applied to the top-level document');
  const expression = compileExpression(operand, isLookup(operand) ? { ...scope.options, collation: undefined } : scope.options);
  if (expression.form.kind === 'constant') return { kind: 'always', value: isTruthy(expression.form.value) };
  return { kind: 'expr', expression };
}

/** A field looked up in a list: MongoDB then compares bytes, whatever the collation. */
function isLookup(operand: Value): boolean {
  const list = operand instanceof Document ? operand.get('$in') : undefined;
  if (!(list instanceof BsonArray)) return false;
  const [needle, array] = list.items();
  return typeof needle === 'string' && needle.startsWith('$') && array instanceof BsonArray;
}

function always(value: boolean): PathlessRule {
  return (operand, _scope, name) => {
    if (operand !== 1) throw refuse(9, `${name} must be an integer value of 1`);
    return { kind: 'always', value };
  };
}

function parseSchema(operand: Value, scope: Scope): FilterNode {
  if (scope.place === 'elemMatch' || scope.place === 'arrayFilter') throw refuse(224, '$jsonSchema is not allowed in this context');
  if (!(operand instanceof Document)) throw refuse(14, '$jsonSchema must be an object');
  return { kind: 'schema', schema: operand, test: compileSchema(operand) };
}

/** The fields of a DBRef may be asked for by themselves: they are no operators. */
const referenceField: PathlessRule = (operand, scope, name) => parseField(parsePath(name), operand, scope);

/** Lets through this share of all documents. */
const sampleRate: PathlessRule = (operand, { options: { random }, place }) => {
  if (place === 'elemMatch') throw refuse(2, '$sampleRate can only be applied to the top-level document');
  const rate = isNumber(operand) ? toDouble(operand) : NaN;
  if (!isNumber(operand)) throw refuse(2, 'argument to $sampleRate must be a numeric type');
  if (!(rate >= 0 && rate <= 1)) throw refuse(2, 'numeric argument to $sampleRate must be in [0, 1]');
  if (random === undefined || rate === 1 || rate === 0) return { kind: 'always', value: rate === 1 };
  return { kind: 'expr', expression: { evaluate: () => madeOnce(random) < rate, form: { kind: 'other' } } };
};

const pathless: ReadonlyMap<string, PathlessRule> = new Map<string, PathlessRule>([
  ['$and', (operand, scope, name) => andOf(parseBranches(operand, scope, name))],
  ['$or', (operand, scope, name) => orOf(parseBranches(operand, scope, name))],
  ['$nor', (operand, scope, name) => notOf(orOf(parseBranches(operand, scope, name)))],
  ['$expr', parseExpr],
  ['$jsonSchema', parseSchema],
  ['$comment', () => matchAll],
  ['$ref', referenceField],
  ['$id', referenceField],
  ['$db', referenceField],
  ['$sampleRate', sampleRate],
  ['$alwaysTrue', always(true)],
  ['$alwaysFalse', always(false)],
  [
    '$where',
    (_operand, scope) => {
      if (scope.place === 'elemMatch') throw refuse(2, '$elemMatch cannot contain $where expression');
      throw refuse(2, '$where is not allowed: this server does not run JavaScript');
    },
  ],
  [
    '$text',
    (operand, scope) => {
      if (scope.place === 'elemMatch' || scope.place === 'arrayFilter') throw refuse(2, '$text can only be applied to the top-level document');
      if (scope.place === 'single') throw refuse(2, '$text is not allowed in this context');
      const search = parseTextSearch(operand);
      if (scope.withinNor === true) throw refuse(2, 'text expression not allowed in nor');
      return { kind: 'text', search, operand };
    },
  ],
]);

/** Every operator of a filter, by name. */
export const filterOperators: readonly string[] = [...byPath.keys(), ...pathless.keys()];
