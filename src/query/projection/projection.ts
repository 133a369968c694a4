// A compiled projection, and the stages `$addFields` and `$unset` that share its tree.

import { BsonArray, describeValue, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { createCompiler } from '../expression/compile.ts';
import { splitPath } from '../expression/field-path.ts';
import type { Filter, QueryOptions } from '../filter/filter.ts';
import type { FilterNode } from '../filter/node.ts';
import { refuse } from '../refuse.ts';
import { applyProjection } from './apply.ts';
import { branchOf } from './node.ts';
import type { ProjectionBranch, ProjectionMode } from './node.ts';
import { addLeaf, parseProjection } from './parse.ts';
import type { ProjectionDialect } from './parse.ts';

export interface ProjectionOptions extends QueryOptions {
  /** `find` unless said otherwise. */
  readonly dialect?: ProjectionDialect;
  /** The query's filter: where it matched is what the positional operator means. */
  readonly filter?: Filter;
}

/** A projection compiled once for a command. */
export interface Projection {
  /** The projected document; the document itself where nothing changes it. */
  readonly apply: (doc: Document) => Document;
  readonly kind: 'all' | 'inclusion' | 'exclusion' | 'addition';
  /** The paths that the result depends on (for covered plans), or undefined for the whole document. */
  readonly fieldsNeeded: readonly string[] | undefined;
  /** Whether it reads by which key of an index a document was found (`$meta`). */
  readonly readsIndexKey?: boolean;
}

const kinds = { include: 'inclusion', exclude: 'exclusion', add: 'addition' } as const satisfies Record<ProjectionMode, string>;

/** Compiles the projection of a `find` or of a `$project` stage. Throws CommandError for what MongoDB refuses. */
export function compileProjection(spec: Document, options: ProjectionOptions): Projection {
  const dialect = options.dialect ?? 'find';
  if (spec.isEmpty) {
    if (dialect === 'aggregate') throw refuse(51272, 'projection specification must have at least one field');
    return { apply: (doc) => doc, kind: 'all', fieldsNeeded: undefined };
  }
  const parsed = parseProjection(spec, options, dialect);
  const { filter } = options;
  if (parsed.hasPositional && filter !== undefined && holdsExpression(filter.shape)) {
    throw refuse(224, '$expr is not allowed in this context');
  }
  return {
    apply: (doc) => applyProjection(doc, parsed.root, parsed.mode, () => filter?.place(doc) ?? -1),
    kind: kinds[parsed.mode],
    fieldsNeeded: parsed.hasPositional ? undefined : neededFields(parsed.root, parsed.mode, parsed.expressionFields),
    readsIndexKey: parsed.readsIndexKey,
  };
}

/** Compiles `$addFields` (`$set`): expressions for fields, in nested objects or by dotted paths. */
export function compileAddFields(spec: Document, options: QueryOptions): Projection {
  const root = branchOf();
  const compiler = createCompiler(options);
  const add = (path: readonly string[], value: Value): void => {
    if (value instanceof Document && isNested(path, value)) {
      for (const [name, inner] of value.fields) {
        if (name.includes('.')) {
          throw refuse(40183, `cannot use dotted field name '${name}' in a sub object of '${path.join('.')}'`);
        }
        add([...path, ...splitPath(name)], inner);
      }
    } else {
      addLeaf(root, path, { kind: 'computed', expression: compiler.compile(value) }, refuseConflict);
    }
  };
  for (const [name, value] of spec.fields) add(splitPath(name), value);
  return {
    apply: (doc) => applyProjection(doc, root, 'add', () => -1),
    kind: 'addition',
    fieldsNeeded: undefined,
    readsIndexKey: compiler.dependencies.indexKey,
  };
}

function refuseConflict(path: readonly string[], depth: number): never {
  const shorter = path.slice(0, depth).join('.');
  throw refuse(40176, `specification contains two conflicting paths. Cannot specify both '${path.join('.')}' and '${shorter}'`);
}

/** Whether an object holds fields to set, not an expression. */
function isNested(path: readonly string[], value: Document): boolean {
  const operators = value.keys().filter((name) => name.startsWith('$')).length;
  if (operators > 0 && value.fields.length > 1) {
    throw refuse(
      40181,
      `an expression specification must contain exactly one field, the name of the expression. Found ${String(value.fields.length)} fields in ${describeValue(value)}, while parsing '${path.join('.')}'`,
    );
  }
  return operators === 0 && !value.isEmpty;
}

/** Compiles `$unset`: one path, or an array of them. */
export function compileUnsetFields(spec: Value): Projection {
  const names = spec instanceof BsonArray ? spec.items() : [spec];
  if (!(spec instanceof BsonArray) && typeof spec !== 'string') {
    throw refuse(31002, '$unset specification must be a string or an array');
  }
  if (names.length === 0) throw refuse(31119, '$unset specification must be a string or an array with at least one field');
  const paths = names.map((name) => {
    if (typeof name !== 'string') throw refuse(31120, '$unset specification must be a string or an array containing only string values');
    return name;
  });
  const root = branchOf();
  for (const path of paths) {
    if (path.includes('\0')) throw refuse(9527900, `FieldPath field names may not contain embedded nulls '\\0'.`);
    addLeaf(root, splitPath(path), { kind: 'exclude' });
  }
  return { apply: (doc) => applyProjection(doc, root, 'exclude', () => -1), kind: 'exclusion', fieldsNeeded: undefined };
}

function holdsExpression(node: FilterNode): boolean {
  if (node.kind === 'expr') return true;
  if (node.kind === 'and' || node.kind === 'or') return node.children.some(holdsExpression);
  return node.kind === 'not' && holdsExpression(node.child);
}

function neededFields(root: ProjectionBranch, mode: ProjectionMode, read: string[] | undefined): string[] | undefined {
  if (mode !== 'include' || read === undefined) return undefined;
  const needed = new Set(read);
  const collect = (branch: ProjectionBranch, prefix: string): void => {
    for (const [name, node] of branch.fields) {
      const path = prefix + name;
      if (node.kind === 'branch') collect(node, `${path}.`);
      if (node.kind !== 'computed' && (node.kind !== 'branch' || node.computes)) needed.add(path);
    }
  };
  collect(root, '');
  return [...needed];
}
