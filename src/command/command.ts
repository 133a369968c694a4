// What a command is: a row of the command table. It declares what it is called, what it may do and what it reads; the dispatcher does all
// the rest (sessions, transactions, errors, the fields that every reply has). Parsing comes before anything else and has no effects.

import { BsonArray, Document, type Value } from '../bson/index.ts';
import type { Soon } from '../catalog/index.ts';
import type { CommandRequest, OperationContext } from '../session/index.ts';
import { parseFields, type FieldTable, type Parsed } from './fields.ts';
import type { GenericFields } from './generic-fields.ts';
import type { RetryScope } from './retry-scope.ts';
import type { ServerState } from './server-state.ts';
import type { HeldTransaction } from './held-transaction.ts';

/** `read`, `write`: data of a database. `admin`: the server. `none`: allowed to anybody, also before authentication. */
export type Access = 'none' | 'read' | 'write' | 'admin';

/** Fields of a reply in order, without `ok` and the times, which the dispatcher adds. Undefined ones are left out. */
export type Reply = Readonly<Record<string, Value | undefined>>;

/** What a running command is given. */
export interface CommandContext {
  readonly server: ServerState;
  readonly operation: OperationContext;
  readonly request: CommandRequest;
  readonly generic: GenericFields;
  readonly db: string;
  /** The multi-statement transaction that it belongs to. */
  readonly transaction: HeldTransaction | undefined;
  /** What must be remembered of a retryable write. */
  readonly retry: RetryScope | undefined;
  /** Where the client takes further answers without asking: the command of which the next one is the answer. */
  readonly stream: { next: Document | undefined } | undefined;
}

/** How a command stands to transactions: `yes` may be part of one, `no` is refused with 263, `ends` commits or aborts it. */
export type InTransaction = 'yes' | 'no' | 'ends';

/** Levels of read concern beyond `local`: `none`, all but `snapshot`, or `all`. */
export type ReadConcernSupport = 'none' | 'without-snapshot' | 'all';

/** A command ready to run. */
export type Run = (context: CommandContext) => Soon<Reply | Document>;

/** A row of the command table. */
export interface Command {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly access: Access;
  readonly inTransaction: InTransaction;
  /** Whether it may carry a transaction number by itself. */
  readonly retryable: boolean;
  /** Only on the database `admin`. */
  readonly adminOnly: boolean;
  readonly writes: boolean;
  readonly readConcern: ReadConcernSupport;
  /** Whether it may carry a write concern. */
  readonly writeConcern: boolean;
  /** Known only to a server in test mode. */
  readonly testOnly: boolean;
  /** One line for listCommands. */
  readonly about: string;
  /** Reads the request; CommandError where it is wrong. */
  readonly prepare: (request: CommandRequest, generic: GenericFields) => Run;
}

/** What a command says of itself. */
export interface CommandDefinition<F extends FieldTable> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly access: Access;
  readonly inTransaction?: InTransaction;
  readonly retryable?: boolean;
  readonly adminOnly?: boolean;
  readonly readConcern?: ReadConcernSupport;
  /** Absent: if it writes. */
  readonly writeConcern?: boolean;
  readonly testOnly?: boolean;
  readonly about: string;
  /** Its fields; the one that bears its name is included. */
  readonly fields: F;
  /** Lets through fields that the table does not name (where MongoDB does). */
  readonly lax?: boolean;
  readonly run: (context: CommandContext, parsed: Parsed<F>) => Soon<Reply | Document>;
}

/** Makes a row of the table. */
export function defineCommand<F extends FieldTable>(definition: CommandDefinition<F>): Command {
  const { name, fields, run } = definition;
  return {
    name,
    aliases: definition.aliases ?? [],
    access: definition.access,
    inTransaction: definition.inTransaction ?? 'no',
    retryable: definition.retryable ?? false,
    adminOnly: definition.adminOnly ?? false,
    writes: definition.access === 'write',
    readConcern: definition.readConcern ?? 'none',
    writeConcern: definition.writeConcern ?? definition.access === 'write',
    testOnly: definition.testOnly ?? false,
    about: definition.about,
    prepare: (request) => {
      const body = commandBody(request, definition);
      const parsed = parseFields(name, body, fields, 'generic');
      return (context) => run(context, parsed);
    },
  };
}

/** The body under the command's own name, with sequences put in as arrays, and unnamed fields left out of a lax command. */
function commandBody<F extends FieldTable>(request: CommandRequest, definition: CommandDefinition<F>): Document {
  const { name, fields } = definition;
  const first = request.body.first;
  const renamed = first !== undefined && first[0] !== name;
  if (!renamed && definition.lax !== true && request.sequences.size === 0) return request.body;
  const entries = request.body.fields.map(([field, value], index): [string, Value] => [index === 0 ? name : field, value]);
  const kept = definition.lax === true ? entries.filter(([field]) => Object.hasOwn(fields, field)) : entries;
  for (const [field, documents] of request.sequences) kept.push([field, BsonArray.ofList(documents)]);
  return Document.fromEntries(kept);
}
