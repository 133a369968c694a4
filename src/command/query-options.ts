// What compiling filters, expressions and pipelines needs of the command they are in: its one time, its variables (`let`), chance.

import { CommandError } from '../base/errors.ts';
import { BsonArray, DateTime, Document, type Value } from '../bson/index.ts';
import { createCompiler, refuse, validateVariableName, Variable, type QueryOptions } from '../query/index.ts';
import { parseCollation, sameCollation, type Collation } from '../collation/index.ts';
import type { OperationTimes } from '../session/index.ts';
import type { CommandContext } from './command.ts';
import type { ResolvedTarget } from './query-target.ts';

/** The one time of a command, whatever it compiles when. */
function timesOf({ operation, server }: CommandContext): OperationTimes {
  const { env, time } = server;
  return (operation.times ??= { now: new DateTime(env.clock.nowMs()), clusterTime: time.clusterTime });
}

/** Options for everything that one command compiles. */
export function queryOptions(context: CommandContext, letFields?: Document, collation?: Collation): QueryOptions {
  const { server } = context;
  const { now, clusterTime } = timesOf(context);
  const base: QueryOptions = { now, clusterTime, random: () => server.env.random.uint32() / 0x1_0000_0000, collation };
  if (letFields === undefined || letFields.isEmpty) return base;
  return { ...base, variables: letVariables(letFields, base) };
}

/** Variables of the server that a command's `let` may neither set nor use. */
const TIME_VARIABLES = ['NOW', 'CLUSTER_TIME'];

function usesTime(value: Value): boolean {
  if (typeof value === 'string') return TIME_VARIABLES.some((name) => value === `$$${name}` || value.startsWith(`$$${name}.`));
  if (value instanceof BsonArray) return value.items().some(usesTime);
  return value instanceof Document && !value.has('$literal') && value.fields.some(([, field]) => usesTime(field));
}

function letValue(value: Value, options: QueryOptions): Value | undefined {
  if (usesTime(value)) throw refuse(51144, 'system variables are not allowed in the values of let');
  const compiler = createCompiler(options);
  const expression = compiler.compile(value);
  if (compiler.dependencies.whole || compiler.dependencies.paths.size > 0) {
    throw refuse(4890500, 'Command let Expression tried to access a field, but this is not allowed.');
  }
  return expression.evaluate(Document.empty);
}

/** The variables of `let`: each value is an expression over nothing, evaluated once. */
function letVariables(letFields: Document, options: QueryOptions): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const [name, value] of letFields.fields) {
    if (TIME_VARIABLES.includes(name)) throw refuse(4738901, `Attempt to set internal constant: ${name}`);
    validateVariableName(name, 'write');
    variables.set(name, new Variable(letValue(value, { ...options, variables }), true));
  }
  return variables;
}

/** The collation that a command asks for, else that of what it runs on. */
export function collationFor(given: Document | undefined, inherited: Collation | undefined): Collation | undefined {
  return given === undefined || given.isEmpty ? inherited : parseCollation(given);
}

/** The collation of a command on a collection or view; 167 where it is another than the view's own. */
export function targetCollation(given: Document | undefined, target: ResolvedTarget): Collation | undefined {
  const collation = collationFor(given, target.collation);
  if (target.isView && !sameCollation(collation, target.collation)) throw viewCollation();
  return collation;
}

/** The refusal of a view under a collation that is not its own. */
export function viewCollation(): CommandError {
  return new CommandError(167, 'OptionNotSupportedOnView', "Cannot override a view's default collation");
}

/** Refuses a collation that means nothing, before anything is done. */
export function checkCollation(given: Document | undefined): void {
  collationFor(given, undefined);
}
