// From a projection's document to its tree, for `find` (with `$slice`, `$elemMatch` and the positional operator) and for `$project`. What
// fields may stand together, and the refusals, are MongoDB's. Follows the manual's pages "Project Fields to Return from Query",
// "$project" and "Projection Operators".

import { BsonArray, Document, isNaNNumber, isNumber, toDouble, truncateNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { Compiler } from '../expression/compiler.ts';
import { createCompiler, expressionOperators } from '../expression/compile.ts';
import { constant } from '../expression/expression.ts';
import type { Expression } from '../expression/expression.ts';
import { splitPath } from '../expression/field-path.ts';
import { compileElementFinder } from '../filter/compile.ts';
import { parseFilter } from '../filter/parse.ts';
import type { QueryOptions } from '../filter/filter.ts';
import { refuse } from '../refuse.ts';
import { isTruthy } from '../truth.ts';
import { branchOf } from './node.ts';
import type { ProjectionBranch, ProjectionLeaf, ProjectionMode, SliceNode } from './node.ts';

/** Which language a projection is written in. */
export type ProjectionDialect = 'find' | 'aggregate';

/** A parsed projection. */
export interface ParsedProjection {
  readonly mode: ProjectionMode;
  readonly root: ProjectionBranch;
  readonly hasPositional: boolean;
  /** The paths that expressions read; undefined if they read the whole document. */
  readonly expressionFields: string[] | undefined;
  /** Whether the expressions read the key of an index (`$meta`). */
  readonly readsIndexKey: boolean;
}

/** Parses a projection. Throws CommandError as MongoDB does. */
export function parseProjection(spec: Document, options: QueryOptions, dialect: ProjectionDialect): ParsedProjection {
  const parser = new ProjectionParser(options, dialect);
  for (const [name, value] of spec.fields) parser.field([], name, value);
  return parser.finish();
}

/** Refuses a path that is, or is above or below, one that was given before; `depth` of its components are known. */
export type ClashRefusal = (path: readonly string[], depth: number) => never;

const refuseClash: ClashRefusal = (path, depth) => {
  if (depth === path.length) throw refuse(31250, `Path collision at ${path.join('.')}`);
  throw refuse(31249, `Path collision at ${path.join('.')} remaining portion ${path.slice(depth).join('.')}`);
};

/** Adds a leaf at a path; two specifications of one path are refused. */
export function addLeaf(root: ProjectionBranch, path: readonly string[], leaf: ProjectionLeaf, clash: ClashRefusal = refuseClash): void {
  const computes = leaf.kind === 'computed' || leaf.kind === 'elemMatch';
  let branch = root;
  path.forEach((name, index) => {
    branch.computes ||= computes;
    branch.positional ||= leaf.kind === 'positional';
    const known = branch.fields.get(name);
    if (index === path.length - 1) {
      if (known !== undefined) clash(path, path.length);
      branch.fields.set(name, leaf);
      return;
    }
    if (known === undefined) {
      const made = branchOf();
      branch.fields.set(name, made);
      branch = made;
    } else if (known.kind === 'branch') {
      branch = known;
    } else {
      clash(path, index + 1);
    }
  });
}

class ProjectionParser {
  readonly #options: QueryOptions;
  readonly #dialect: ProjectionDialect;
  readonly #root = branchOf();
  readonly #compiler: Compiler;
  #mode: 'include' | 'exclude' | undefined;
  #id: 'include' | 'exclude' | undefined;
  #elemMatch = false;
  #positional = false;

  constructor(options: QueryOptions, dialect: ProjectionDialect) {
    this.#options = options;
    this.#dialect = dialect;
    this.#compiler = createCompiler(options);
  }

  /** One field of the specification, or of an object in it that stands at `parent`. */
  field(parent: readonly string[], name: string, value: Value): void {
    if (name.endsWith('.$') && this.#dialect === 'find') {
      this.#positionalField(parent, name, value);
      return;
    }
    if (/\.\$\./.test(name) && this.#dialect === 'find') {
      throw refuse(
        31394,
        "As of 4.4, it's illegal to specify positional operator in the middle of a path." +
          'Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like ' +
          "a.b.$.d, remove the parts following the '$' and the results will be equivalent.",
      );
    }
    if (name.endsWith('.$')) throw refuse(31324, 'Cannot use positional projection in aggregation projection');
    const path = [...parent, ...splitPath(name)];
    if (value instanceof Document) this.#object(path, value);
    else if (typeof value === 'boolean' || isNumber(value)) this.#flag(path, isTruthy(value));
    else this.#literal(path, value);
  }

  finish(): ParsedProjection {
    const mode = this.#mode ?? this.#impliedMode();
    if (mode === 'include' && this.#id === undefined && !this.#root.fields.has('_id')) {
      this.#root.fields.set('_id', { kind: 'include' });
    }
    if (this.#id !== undefined) this.#root.fields.set('_id', { kind: this.#id });
    if (mode === 'include' && this.#id === 'exclude') this.#root.fields.delete('_id');
    if (mode === 'exclude' && this.#id === 'include') this.#root.fields.delete('_id');
    return {
      mode,
      root: this.#root,
      hasPositional: this.#positional,
      expressionFields: this.#compiler.dependencies.fields(),
      readsIndexKey: this.#compiler.dependencies.indexKey,
    };
  }

  /** The mode of a specification in which no field but `_id` says it. */
  #impliedMode(): 'include' | 'exclude' {
    if (this.#elemMatch) return 'include';
    return this.#id === 'include' ? 'include' : 'exclude';
  }

  #positionalField(parent: readonly string[], name: string, value: Value): void {
    const path = [...parent, ...splitPath(name.slice(0, -2))];
    if (value instanceof Document) throw refuse(31271, 'positional projection cannot be used with a literal or expression');
    if (typeof value !== 'boolean' && !isNumber(value)) {
      throw refuse(31308, 'positional projection cannot be used with a literal');
    }
    if (!isTruthy(value)) throw refuse(31395, 'positional projection cannot be used with exclusion');
    if (this.#positional) throw refuse(31276, 'Cannot specify more than one positional projection per query.');
    if (this.#elemMatch) throw refuse(31256, 'Cannot specify positional operator and $elemMatch.');
    this.#positional = true;
    this.#setMode('include', path);
    addLeaf(this.#root, path, { kind: 'positional' });
  }

  #flag(path: readonly string[], included: boolean): void {
    const kind = included ? 'include' : 'exclude';
    if (path.length === 1 && path[0] === '_id') {
      if (this.#id !== undefined || this.#root.fields.has('_id')) throw refuse(31250, 'Path collision at _id');
      this.#id = kind;
      return;
    }
    this.#setMode(kind, path);
    this.#add(path, { kind });
  }

  #add(path: readonly string[], leaf: ProjectionLeaf): void {
    if (path[0] === '_id' && this.#id !== undefined) refuseClash(path, 1);
    addLeaf(this.#root, path, leaf);
  }

  #setMode(mode: 'include' | 'exclude', path: readonly string[]): void {
    this.#mode ??= mode;
    if (this.#mode === mode) return;
    const field = path.join('.');
    if (mode === 'include') throw refuse(31253, `Cannot do inclusion on field ${field} in exclusion projection`);
    throw refuse(31254, `Cannot do exclusion on field ${field} in inclusion projection`);
  }

  #literal(path: readonly string[], value: Value): void {
    if (this.#mode === 'exclude') {
      throw refuse(31310, `Cannot use an expression ${path.join('.')} in an exclusion projection`);
    }
    this.#mode = 'include';
    this.#add(path, { kind: 'computed', expression: this.#compiler.compile(value) });
  }

  #object(path: readonly string[], object: Document): void {
    const first = object.first;
    if (first === undefined) {
      throw refuse(51270, `An empty sub-projection is not a valid value. Found empty object at path`);
    }
    const [operator, argument] = first;
    if (!operator.startsWith('$') || object.fields.length > 1) {
      for (const [name, value] of object.fields) this.field(path, name, value);
      return;
    }
    if (this.#dialect === 'find' && operator === '$elemMatch') {
      this.#elemMatchField(path, argument);
      return;
    }
    const slice = this.#dialect === 'find' && operator === '$slice' ? parseSlice(argument) : undefined;
    if (slice !== undefined) {
      this.#add(path, slice);
      return;
    }
    this.#expression(path, object, operator);
  }

  #elemMatchField(path: readonly string[], argument: Value): void {
    if (this.#positional) throw refuse(31255, 'Cannot specify positional operator and $elemMatch.');
    if (!(argument instanceof Document)) throw refuse(31274, 'elemMatch: Invalid argument, object required.');
    if (path.length > 1) throw refuse(31275, 'Cannot use $elemMatch projection on a nested field.');
    const node = parseFilter(Document.of({ [path[0] ?? '']: Document.of({ $elemMatch: argument }) }), this.#options);
    if (node.kind !== 'elemMatchObject' && node.kind !== 'elemMatchValue') throw refuse(2, '$elemMatch needs an Object');
    this.#elemMatch = true;
    this.#add(path, { kind: 'elemMatch', find: compileElementFinder(node) });
  }

  #expression(path: readonly string[], object: Document, operator: string): void {
    if (operator === '$meta') {
      this.#add(path, { kind: 'computed', expression: demandedMeta.has(object.get('$meta')) ? this.#compiler.compile(object) : parseMeta(object.get('$meta')) });
      return;
    }
    if (operator !== '$elemMatch' && !expressionOperators.has(operator)) {
      throw refuse(31325, `Unknown expression ${operator}`);
    }
    if (this.#mode === 'exclude') {
      throw refuse(31252, 'Cannot use expression other than $meta in exclusion projection');
    }
    this.#mode = 'include';
    this.#add(path, { kind: 'computed', expression: this.#compiler.compile(object) });
  }
}

/** Metadata that documents carry: the operator of expressions gives it. */
const demandedMeta: ReadonlySet<Value | undefined> = new Set(['textScore', 'geoNearDistance', 'geoNearPoint', 'indexKey']);
/** Metadata that is missing where there is none. */
const optionalMeta: ReadonlySet<string> = new Set(
  'randVal searchScore searchHighlights searchScoreDetails vectorSearchScore recordId sortKey score scoreDetails'.split(' '),
);

/** Of the other metadata: documents carry none. */
function parseMeta(argument: Value | undefined): Expression {
  if (typeof argument !== 'string') throw refuse(17307, '$meta only supports string arguments');
  if (!optionalMeta.has(argument)) throw refuse(17308, `Unsupported argument to $meta: ${argument}`);
  return constant(undefined);
}

/** A count as `$slice` takes it: cut to an integer, held within what an array can have; NaN is 0. */
function sliceCount(value: Value): number | undefined {
  if (!isNumber(value)) return undefined;
  if (isNaNNumber(value)) return 0;
  const bound = 0x7fffffffn;
  const cut = truncateNumber(value) ?? (toDouble(value) < 0 ? -bound - 1n : bound + 1n);
  return Number(cut > bound ? bound : cut < -bound ? -bound : cut);
}

/** The find form of `$slice`; undefined where the operand is the aggregation operator's. */
function parseSlice(argument: Value): SliceNode | undefined {
  const limit = sliceCount(argument);
  if (limit !== undefined) return { kind: 'slice', skip: undefined, limit };
  if (!(argument instanceof BsonArray) || argument.length !== 2) return undefined;
  const [first, second] = argument.items().map(sliceCount);
  if (first === undefined || second === undefined || second <= 0) return undefined;
  return { kind: 'slice', skip: first, limit: second };
}
