// What compiling filters, expressions and pipelines needs of the command they are in: its one time, its variables (`let`), chance.

import { CommandError } from '../base/errors.ts';
import { DateTime, Document } from '../bson/index.ts';
import { compileExpression, Variable, type QueryOptions } from '../query/index.ts';
import type { CommandContext } from './command.ts';

/** Options for everything that one command compiles. */
export function queryOptions(context: CommandContext, letFields?: Document): QueryOptions {
  const { server } = context;
  const base: QueryOptions = {
    now: new DateTime(server.env.clock.nowMs()),
    clusterTime: server.time.clusterTime,
    random: () => server.env.random.uint32() / 0x1_0000_0000,
  };
  if (letFields === undefined || letFields.isEmpty) return base;
  return { ...base, variables: letVariables(letFields, base) };
}

/** The variables of `let`: each value is an expression over nothing, evaluated once. */
function letVariables(letFields: Document, options: QueryOptions): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  for (const [name, value] of letFields.fields) {
    if (!/^[a-z][a-zA-Z0-9_]*$/.test(name)) {
      throw new CommandError(9, 'FailedToParse', `'${name}' starts with an invalid character for a user variable name`);
    }
    const expression = compileExpression(value, { ...options, variables });
    variables.set(name, new Variable(expression.evaluate(Document.empty), true));
  }
  return variables;
}

/** Refuses a collation that is not the simple one: none other is served yet. */
export function checkCollation(collation: Document | undefined): void {
  if (collation === undefined || collation.isEmpty) return;
  if (collation.get('locale') === 'simple') return;
  throw new CommandError(238, 'NotImplemented', 'collation other than { locale: "simple" } is not implemented');
}
