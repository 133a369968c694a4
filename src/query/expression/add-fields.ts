// Computed fields: `$addFields` and `$set`, as a stage and in pipelines of updates. A specification is a tree of field names with
// expressions at its leaves. Paths go through arrays into each element; what stands in the way of a path is replaced by a document.
// Follows the manual's page "$addFields (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { describeValue } from '../describe.ts';
import { refuse } from '../refuse.ts';
import { nameOf } from './define.ts';
import type { Maybe } from './define.ts';
import { createCompiler } from './compile.ts';
import type { Compiler } from './compiler.ts';
import type { Dependencies, Expression, ExpressionOptions } from './expression.ts';
import { splitPath } from './field-path.ts';

/** Fields to be computed, by name: each an expression or a level more. */
export class FieldTree {
  readonly children: Map<string, FieldTree | Expression> = new Map();

  /** Puts an expression at a path; refuses a path that is taken, or begins or ends another. */
  put(components: readonly string[], path: string, expression: Expression): void {
    const [name = '', ...rest] = components;
    const child = this.children.get(name);
    if (rest.length === 0) {
      if (child !== undefined) throw conflict(path, name);
      this.children.set(name, expression);
      return;
    }
    this.#level(name, path).put(rest, path, expression);
  }

  #level(name: string, path: string): FieldTree {
    const child = this.children.get(name);
    if (child instanceof FieldTree) return child;
    if (child !== undefined) throw conflict(path, name);
    const level = new FieldTree();
    this.children.set(name, level);
    return level;
  }

  /** The document with the fields set; expressions are evaluated on `root`. */
  applyTo(document: Document, root: Document): Document {
    const fields = new Map<string, Maybe>(document.fields);
    for (const [name, child] of this.children) {
      const value = child instanceof FieldTree ? child.#applyToValue(fields.get(name), root) : child.evaluate(root);
      if (value === undefined) fields.delete(name);
      else fields.set(name, value);
    }
    return Document.fromEntries([...fields].filter(isPresent));
  }

  #applyToValue(value: Maybe, root: Document): Value {
    if (value instanceof BsonArray) return BsonArray.of(value.items().map((item) => this.#applyToValue(item, root)));
    return this.applyTo(value instanceof Document ? value : Document.empty, root);
  }
}

function isPresent(field: [string, Maybe]): field is [string, Value] {
  return field[1] !== undefined;
}

function conflict(path: string, name: string): Error {
  const text = `specification contains two conflicting paths. Cannot specify both '${path}' and '${name}'`;
  return refuse(40176, `Invalid $addFields :: caused by :: ${text}`);
}

function putField(tree: FieldTree, prefix: readonly string[], field: readonly [string, Value], compiler: Compiler): void {
  const [name, value] = field;
  if (prefix.length > 0 && name.includes('.')) throw refuse(40183, `FieldPath field names may not contain '.' in a sub-object: '${name}'`);
  const components = [...prefix, ...splitPath(name)];
  const nested = value instanceof Document && !value.isEmpty;
  if (!nested || value.first?.[0].startsWith('$') === true) {
    if (nested && value.fields.length !== 1) {
      throw refuse(40181, `an expression specification must contain exactly one field, the name of the expression. Found ${value.fields.length} fields in ${describeValue(value)}, while parsing object`);
    }
    tree.put(components, components.join('.'), compiler.compile(value));
    return;
  }
  for (const inner of value.fields) putField(tree, components, inner, compiler);
}

/** Compiled computed fields. */
export interface AddedFields {
  readonly apply: (document: Document) => Document;
  /** The fields that the expressions read. */
  readonly dependencies: Dependencies;
}

/** Compiles the specification of `$addFields` or `$set`. Throws CommandError for what MongoDB refuses. */
export function compileAddFields(specification: Value, options: ExpressionOptions, name = '$addFields'): AddedFields {
  if (!(specification instanceof Document)) {
    throw refuse(40272, `${name} specification stage must be an object, got ${nameOf(specification)}`);
  }
  const compiler = createCompiler(options);
  const tree = new FieldTree();
  for (const field of specification.fields) putField(tree, [], field, compiler);
  return { apply: (document) => tree.applyTo(document, document), dependencies: compiler.dependencies };
}
