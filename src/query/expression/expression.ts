// What a compiled expression is. An expression is made once for a command and evaluated for each document; it is synchronous, does not
// change its input, and gives `undefined` where MongoDB speaks of a missing value. Variables ($let, $map, a command's `let`, $lookup's
// `let`) are cells bound when the expression is compiled: whoever owns a cell sets it before evaluating what was compiled under it, and
// evaluation never yields in between. Follows the manual's page "Expressions".

import type { DateTime, Document, Timestamp, Value } from '../../bson/index.ts';
import type { Collation } from '../../collation/index.ts';
import type { MetadataKinds } from '../metadata.ts';

/** A variable: bound by identity when an expression is compiled, read when it is evaluated. */
export class Variable {
  /** The value now; `undefined` is missing. */
  value: Value | undefined;
  /** True if the value never changes: the compiler then takes it as a constant. */
  readonly fixed: boolean;

  constructor(value: Value | undefined, fixed: boolean) {
    this.value = value;
    this.fixed = fixed;
  }
}

/** What a compiled expression looks like, for the planner and for constant folding. */
export type ExpressionForm =
  | { readonly kind: 'constant'; readonly value: Value | undefined }
  | { readonly kind: 'path'; readonly path: string } // a path of the document itself
  | { readonly kind: 'operator'; readonly name: string; readonly operands: readonly Expression[] }
  | { readonly kind: 'other' };

/** A compiled expression. `evaluate` throws CommandError as MongoDB does; it may be called any number of times, one call at a time. */
export interface Expression {
  readonly evaluate: (root: Document) => Value | undefined;
  readonly form: ExpressionForm;
}

/** What compiling needs from outside, as `query` knows neither time nor chance. */
export interface ExpressionOptions {
  /** `$$NOW`: one value for a whole command. */
  readonly now: DateTime;
  /** `$$CLUSTER_TIME`, where there is one. */
  readonly clusterTime?: Timestamp;
  /** Whether `$$NOW` and `$$CLUSTER_TIME` are refused: some commands do not have them. */
  readonly timeless?: boolean;
  /** The user variables in scope (a command's `let`), by name without `$$`. */
  readonly variables?: ReadonlyMap<string, Variable>;
  /** How texts are compared; absent: by their bytes. */
  readonly collation?: Collation | undefined;
  /** What is known of documents beside their fields (`$meta`). */
  readonly metadata?: MetadataKinds | undefined;
  /** The source of `$rand`: a number from 0 to 1, 1 excluded. Without it `$rand` is refused as unknown. */
  readonly random?: () => number;
  /** Whether the errors of constant parts show only when a document is met, as in the pipeline of an update. */
  readonly lateErrors?: boolean;
}

/** The fields of the document that an expression reads. */
export class Dependencies {
  /** Dotted paths read. */
  readonly paths: Set<string> = new Set();
  /** True if the whole document is read. */
  whole = false;
  /** True if the key of an index is read that the document was found by. */
  indexKey = false;

  /** Reads one path. */
  addPath(path: string): void {
    this.paths.add(path);
  }

  /** Reads what another reads. */
  addAll(other: Dependencies): void {
    for (const path of other.paths) this.paths.add(path);
    this.whole ||= other.whole;
    this.indexKey ||= other.indexKey;
  }

  /** Reads by which key of an index the document was found. */
  addIndexKey(): void {
    this.indexKey = true;
  }

  /** Reads everything. */
  addWhole(): void {
    this.whole = true;
  }

  /** The paths needed, or `undefined` for the whole document. */
  fields(): string[] | undefined {
    return this.whole ? undefined : [...this.paths];
  }
}

/** An expression that is this value always. */
export function constant(value: Value | undefined): Expression {
  return { evaluate: () => value, form: { kind: 'constant', value } };
}

/** Operators of a few single values, which take no time. */
const LIGHT_OPERATORS: ReadonlySet<string> = new Set([
  ...['$add', '$subtract', '$multiply', '$divide', '$mod', '$abs', '$ceil', '$floor', '$round', '$trunc'],
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp', '$and', '$or', '$not', '$ifNull'],
  ...['$year', '$month', '$dayOfMonth', '$dayOfWeek', '$dayOfYear', '$week', '$hour', '$minute', '$second'],
]);

/** True if evaluating only follows paths and puts a few values together. */
export function isLight({ form }: Expression): boolean {
  if (form.kind === 'operator') return LIGHT_OPERATORS.has(form.name) && form.operands.every(isLight);
  return form.kind === 'path' || form.kind === 'constant';
}

/** True if the value of an expression is known. */
export function isConstant(expression: Expression): boolean {
  return expression.form.kind === 'constant';
}
