// From a BSON value to a compiled expression: literals, field paths, variables, objects, arrays, and the call of an operator's rule.
// The compiler is one object per compiled root: it knows the operators, the variables in scope, and gathers the fields that are read.
// An operator with constant operands is evaluated here once, so that its error shows even if no document is ever seen, as in MongoDB.
// Follows the manual's pages "Expressions", "Field Paths" and "Variables in Aggregation Expressions".

import { BsonArray, describeValue, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { CommandError } from '../../base/errors.ts';
import { refuse } from '../refuse.ts';
import { constant, Dependencies, isConstant, Variable } from './expression.ts';
import type { Expression, ExpressionForm, ExpressionOptions } from './expression.ts';
import { checkedText } from './string-limit.ts';
import { compilePathOf, splitPath, validateFieldName, validateVariableName } from './field-path.ts';

/** How an operator is compiled: its argument as written, the compiler, and its own name with `$`. */
export type OperatorRule = (argument: Value, compiler: Compiler, name: string) => Expression;

/** The operators of a family, by name with `$`. */
export type OperatorTable = Readonly<Record<string, OperatorRule>>;

const DEPTH_MAX = 100;

/** What a compiler of a part has from the one of the whole. */
interface Inherited {
  readonly variables: ReadonlyMap<string, Variable>;
  readonly dependencies: Dependencies;
  readonly depth: number;
  readonly folds: boolean;
}

/** Compiles values into expressions under one set of variables. */
export class Compiler {
  readonly options: ExpressionOptions;
  readonly dependencies: Dependencies;
  readonly #operators: ReadonlyMap<string, OperatorRule>;
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly #depth: number;
  readonly #folds: boolean;

  constructor(operators: ReadonlyMap<string, OperatorRule>, options: ExpressionOptions, inherited?: Inherited) {
    this.#operators = operators;
    this.options = options;
    this.#variables = inherited?.variables ?? options.variables ?? new Map();
    this.dependencies = inherited?.dependencies ?? new Dependencies();
    this.#depth = inherited?.depth ?? 0;
    this.#folds = inherited?.folds ?? true;
  }

  /** A compiler that knows these variables too. */
  with(variables: Iterable<readonly [string, Variable]>): Compiler {
    const merged = new Map([...this.#variables, ...variables]);
    return this.#derived({ variables: merged });
  }

  /** A compiler that evaluates nothing yet: for what will never be evaluated. */
  withoutFolding(): Compiler {
    return this.#derived({ folds: false });
  }

  /** Compiles any value standing where an expression may stand. */
  compile(value: Value): Expression {
    if (typeof value === 'string') return value.startsWith('$') ? this.#compilePath(value) : constant(checkedText(value));
    if (value instanceof Document) return this.#deeper().#compileObject(value);
    if (value instanceof BsonArray) return this.#deeper().#compileArray(value);
    return constant(value);
  }

  /** The operands of an operator that takes a list: an array's elements, or the one value. */
  compileOperands(argument: Value): Expression[] {
    const items = argument instanceof BsonArray ? argument.items() : [argument];
    return items.map((item) => this.compile(item));
  }

  /** Gives the expression, or its value where all operands are constant. */
  fold(name: string, operands: readonly Expression[], evaluate: Expression['evaluate']): Expression {
    if (this.#folds && operands.every(isConstant)) return this.#folded(evaluate) ?? { evaluate, form: { kind: 'operator', name, operands } };
    return { evaluate, form: { kind: 'operator', name, operands } };
  }

  /** The value of a constant part; undefined where its error is to show only when it is evaluated. */
  #folded(evaluate: Expression['evaluate']): Expression | undefined {
    try {
      return constant(evaluate(Document.empty));
    } catch (error) {
      if (this.options.lateErrors === true && error instanceof CommandError) return undefined;
      throw error;
    }
  }

  #deeper(): Compiler {
    if (this.#depth >= DEPTH_MAX * 2) throw refuse(15, `Expression nesting exceeds ${String(DEPTH_MAX * 2)} levels`);
    return this.#derived({ depth: this.#depth + 1 });
  }

  #derived(changes: Partial<Inherited>): Compiler {
    const own = { variables: this.#variables, dependencies: this.dependencies, depth: this.#depth, folds: this.#folds };
    return new Compiler(this.#operators, this.options, { ...own, ...changes });
  }

  #compileObject(object: Document): Expression {
    const entries = [...object.entries()];
    const first = entries[0];
    if (first?.[0].startsWith('$') === true) return this.#compileOperator(object, entries);
    const seen = new Set<string>();
    const fields = entries.map(([name, value]): readonly [string, Expression] => {
      validateFieldName(name);
      if (seen.has(name)) throw refuse(16406, `duplicate field name specified in object literal: ${describeValue(object)}`);
      seen.add(name);
      return [name, this.compile(value)];
    });
    const evaluate = (root: Document): Value => {
      const made: (readonly [string, Value])[] = [];
      for (const [name, field] of fields) {
        const value = field.evaluate(root);
        if (value !== undefined) made.push([name, value]);
      }
      return Document.fromEntries(made);
    };
    return this.#composite(fields.map(([, field]) => field), evaluate);
  }

  #compileArray(array: BsonArray): Expression {
    const items = array.items().map((item) => this.compile(item));
    return this.#composite(items, (root) => BsonArray.of(items.map((item) => item.evaluate(root) ?? null)));
  }

  #composite(parts: readonly Expression[], evaluate: Expression['evaluate']): Expression {
    if (parts.every(isConstant)) return constant(evaluate(Document.empty));
    return { evaluate, form: { kind: 'other' } };
  }

  #compileOperator(object: Document, entries: readonly (readonly [string, Value])[]): Expression {
    const [name, argument] = entries[0] ?? ['', null];
    if (entries.length !== 1) {
      throw refuse(15983, `An object representing an expression must have exactly one field: ${describeValue(object)}`);
    }
    const rule = this.#operators.get(name);
    if (rule === undefined) throw refuse(168, `Unrecognized expression '${name}'`);
    return rule(argument, this, name);
  }

  #compilePath(text: string): Expression {
    if (text.length < 2) throw refuse(16872, `'$' by itself is not a valid FieldPath`);
    if (text[1] !== '$') {
      const path = text.slice(1);
      const components = splitPath(path);
      const current = this.#variables.get('CURRENT');
      if (current !== undefined) return this.#variablePath(current, components);
      this.dependencies.addPath(path);
      return { evaluate: compilePathOf(components), form: { kind: 'path', path } };
    }
    return this.#compileVariable(text.slice(2));
  }

  #compileVariable(text: string): Expression {
    const dot = text.indexOf('.');
    const name = dot < 0 ? text : text.slice(0, dot);
    validateVariableName(name, 'read');
    const rest = splitPath(text).slice(1);
    if (name === 'ROOT' || (name === 'CURRENT' && !this.#variables.has(name))) return this.#rootPath(rest);
    const variable = this.#variables.get(name) ?? this.#systemVariable(name);
    return this.#variablePath(variable, rest);
  }

  #rootPath(components: readonly string[]): Expression {
    if (components.length === 0) {
      this.dependencies.addWhole();
      return { evaluate: (root) => root, form: { kind: 'other' } };
    }
    const path = components.join('.');
    this.dependencies.addPath(path);
    return { evaluate: compilePathOf(components), form: { kind: 'path', path } };
  }

  #variablePath(variable: Variable, components: readonly string[]): Expression {
    const form: ExpressionForm = { kind: 'other' };
    if (components.length === 0) {
      if (variable.fixed) return constant(variable.value);
      return { evaluate: () => variable.value, form };
    }
    const read = compilePathOf(components);
    if (variable.fixed) return constant(read(variable.value));
    return { evaluate: () => read(variable.value), form };
  }

  #systemVariable(name: string): Variable {
    if (this.options.timeless === true && (name === 'NOW' || name === 'CLUSTER_TIME')) throw refuse(51144, `Builtin variable '$$${name}' is not available`);
    if (name === 'CLUSTER_TIME' && this.options.clusterTime === undefined) {
      throw refuse(10071200, 'system variable $$CLUSTER_TIME is not available');
    }
    const value = SYSTEM_VARIABLES.get(name);
    if (value === undefined) throw refuse(17276, `Use of undefined variable: ${name}`);
    return new Variable(value(this.options), true);
  }
}

type SystemVariable = (options: ExpressionOptions) => Value | undefined;

const SYSTEM_VARIABLES: ReadonlyMap<string, SystemVariable> = new Map<string, SystemVariable>([
  ['NOW', (options) => options.now],
  ['CLUSTER_TIME', (options) => options.clusterTime],
  ['REMOVE', () => undefined],
  ['DESCEND', () => 'descend'],
  ['PRUNE', () => 'prune'],
  ['KEEP', () => 'keep'],
]);
