// One request from its first byte that means something to the last field of its reply: looked up in the table, read, let into its session,
// run, and answered. Nothing a client sends makes `dispatch` reject: errors are replies. Every reply tells the logical time.

import { clusterTarget, type Authorization } from '../auth/index.ts';
import { CommandError } from '../base/errors.ts';
import type { NumberTable } from '../base/number-table.ts';
import { Binary, BsonArray, Document, Double, type Timestamp, type Value } from '../bson/index.ts';
import { compareTimes, type Soon } from '../catalog/index.ts';
import { OperationContext, Turns, type CommandAnswer, type CommandRequest, type ConnectionContext } from '../session/index.ts';
import { isAtomicStatement, runAtomically } from './atomic-statement.ts';
import type { Command, CommandContext, Reply, Run } from './command.ts';
import { findCommand } from './command-table.ts';
import { DeliberateError, type Failure } from './fail-points.ts';
import { parseGenericFields, sessionOfUser, type GenericFields } from './generic-fields.ts';
import { serverSweeper, type Sweeper } from './sweeper.ts';
import type { ServerState } from './server-state.ts';
import { checkTransactionAllowed, enterSession, type Admission } from './session-gate.ts';
import { errorFields, labelsOf, NOWHERE, translateError, type ErrorPlace } from './translate-error.ts';
import { writeConcernError, type WriteConcern } from './concerns.ts';
import { readUser } from './users/stored-user.ts';

/** What a dispatcher is told besides its state. */
export interface CommandDispatcherOptions {
  /** Told of errors that are bugs of this program; the client gets an InternalError. */
  readonly onBug: (error: unknown, command: string) => void;
}

/** Who runs the commands of the server itself. */
const SYSTEM_USER = readUser(Document.of({ user: '__system', db: 'local', roles: BsonArray.of([Document.of({ role: '__system', db: 'admin' })]) }));

function internalConnection(): ConnectionContext {
  const never = new AbortController();
  return { id: 0, remote: '127.0.0.1:0', local: '127.0.0.1:0', user: '', certificateSubject: undefined, metadata: undefined, compressors: [], signal: never.signal, stopping: never.signal };
}

const NO_SIGNATURE: Document = Document.of({ hash: new Binary(new Uint8Array(20), 0), keyId: 0n });
NO_SIGNATURE.toBytes();

const OK = new Double(1);

/** Errors of a command that came to no write: it was read wrong, or stopped. Beside others the reply tells too what its write concern lacks. */
const BEFORE_WRITING: ReadonlySet<number> = new Set([2, 9, 13, 14, 16, 50, 59, 72, 73, 262, 263, 11600, 11601, 40414, 40415]);

/** A request, read as far as every command is read. */
interface Asked {
  readonly connection: ConnectionContext;
  readonly request: CommandRequest;
  readonly command: Command;
  readonly generic: GenericFields;
}

/** What is to be done for it. */
interface Made {
  readonly run: Run;
  readonly failure: Failure | undefined;
}

/** Serves all commands of one server. */
export class CommandDispatcher {
  readonly #server: ServerState;
  readonly #running: NumberTable<OperationContext>;
  readonly #options: CommandDispatcherOptions;
  readonly #sweeper: Sweeper;
  readonly #turns: Turns;
  #nextOperation = 1;
  /** The last time told, and as it is told. */
  #toldTime: Timestamp | undefined;
  #told: Document = Document.empty;

  /** `running` is the table that `server.operations` shows. */
  constructor(server: ServerState, running: NumberTable<OperationContext>, options: CommandDispatcherOptions) {
    this.#server = server;
    this.#running = running;
    this.#options = options;
    this.#turns = new Turns(server.env.tasks);
    this.#sweeper = serverSweeper(server);
  }

  dispatch(connection: ConnectionContext, request: CommandRequest): Soon<CommandAnswer | undefined> {
    let place = NOWHERE;
    try {
      const command = findCommand(request, this.#server.options.testCommands);
      const generic = ofUser(parseGenericFields(command.name, request), connection);
      place = placeOf(command, generic);
      const answer = this.#serve({ connection, request, command, generic });
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#refusal(error, request, place)) : answer;
    } catch (error) {
      return this.#refusal(error, request, place);
    }
  }

  /** The answer that tells an error. */
  #refusal(error: unknown, request: CommandRequest, place: ErrorPlace, concern?: WriteConcern): CommandAnswer {
    const told = translateError(error);
    if (told.code === 1 && error !== told) this.#options.onBug(error, request.body.first?.[0] ?? '');
    const fields = errorFields(told, error instanceof DeliberateError ? NOWHERE : place);
    const unsatisfied = BEFORE_WRITING.has(told.code) ? undefined : writeConcernError(concern);
    if (unsatisfied !== undefined) fields.push(['writeConcernError', unsatisfied]);
    return { document: this.#finish(fields) };
  }

  /** A transaction that belongs to the connection ends with it. */
  disconnected(connection: ConnectionContext): void {
    this.#server.connectionTransactions.abort(connection);
  }

  /** Runs a command of the server itself, which may do everything. An error is thrown. */
  async runInternal(db: string, command: Document): Promise<Document> {
    const connection = internalConnection();
    await this.#server.access.login(connection, SYSTEM_USER);
    const body = Document.fromEntries([...command.fields, ['$db', db]]);
    const answer = await this.dispatch(connection, { body, sequences: new Map(), expectsReply: true, exhaustAllowed: false, legacy: false });
    const reply = answer?.document ?? Document.empty;
    const [code, codeName, text] = [reply.get('code'), reply.get('codeName'), reply.get('errmsg')];
    if (typeof code === 'number') throw new CommandError(code, typeof codeName === 'string' ? codeName : '', typeof text === 'string' ? text : '');
    return reply;
  }

  /** What a user with this password may do; undefined: no such user, or another password. For those who are given passwords, as the gateway is. */
  checkPassword(user: string, db: string, password: string): Promise<Authorization | undefined> {
    return this.#server.access.checkPassword(user, db, password);
  }

  /** Stops what runs, ends open transactions and cursors. */
  async close(): Promise<void> {
    this.#sweeper.stop();
    for (const operation of this.#running.values()) operation.interrupt('shutdown');
    for (const session of this.#server.sessions.all()) await this.#server.sessions.kill(session, true);
    this.#server.cursors.killWhere(() => true);
    this.#server.snapshots.close();
    await this.#sweeper.stopped;
    await this.#server.times.close(this.#server.time.operationTime);
  }

  /** Most requests are answered in one step: a promise is made only where something must be waited for. */
  #serve(asked: Asked): Soon<CommandAnswer | undefined> {
    const { failPoints, access } = this.#server;
    if (failPoints.any || access.enabled) return this.#serveWatched(asked);
    checkAllowed(asked);
    return this.#admit(asked, undefined);
  }

  /** Serves a request that may be made to fail, or may not be allowed to its user. */
  async #serveWatched(asked: Asked): Promise<CommandAnswer | undefined> {
    const { connection, request, command, generic } = asked;
    const { failPoints, access } = this.#server;
    const failure = failPoints.command({ command, generic, connection, body: request.body, namespace: namespaceNamed(request, generic) });
    if (failure !== undefined) await this.#failOnPurpose(failure, generic);
    if (failure?.closeConnection === true) return undefined;
    if (generic.maxTimeMs > 0 && command.name !== 'getMore' && failPoints.timesOut()) throw new CommandError(50, 'MaxTimeMSExpired', 'operation exceeded time limit');
    checkAllowed(asked);
    if (access.enabled) await access.check(connection, command.name, request, generic.db);
    return this.#admit(asked, failure);
  }

  #admit(asked: Asked, failure: Failure | undefined): Soon<CommandAnswer | undefined> {
    const run = this.#prepare(asked);
    const entering = enterSession(this.#server, asked.command, asked);
    return entering instanceof Promise ? entering.then((admission) => this.#runIn(asked, admission, { run, failure })) : this.#runIn(asked, entering, { run, failure });
  }

  #runIn(asked: Asked, admission: Admission, made: Made): Soon<CommandAnswer | undefined> {
    const { request, generic } = asked;
    const operation = this.#begin(asked, admission);
    const { transaction, retry } = admission;
    const stream = request.exhaustAllowed ? { next: undefined as Document | undefined } : undefined;
    const context: CommandContext = { server: this.#server, operation, request, generic, db: generic.db, transaction, retry, stream };
    let document: Soon<Document>;
    try {
      document = this.#execute(context, asked, made);
    } catch (error) {
      return this.#failed(asked, admission, { operation, error });
    }
    if (!(document instanceof Promise)) return this.#answered(context, admission, document);
    return document.then((later) => this.#answered(context, admission, later), (error: unknown) => this.#failed(asked, admission, { operation, error }));
  }

  #answered({ request, operation, retry, stream }: CommandContext, admission: Admission, document: Document): CommandAnswer | undefined {
    this.#leave(operation, admission);
    if (retry?.closesConnection === true) return undefined;
    return stream?.next === undefined ? { document } : { document, next: { ...request, body: stream.next } };
  }

  async #failed(asked: Asked, admission: Admission, { operation, error }: { readonly operation: OperationContext; readonly error: unknown }): Promise<CommandAnswer | undefined> {
    const { command, generic, request } = asked;
    try {
      for (const work of operation.unfinished) await work.end();
      endFailedTransaction(admission, command);
      const reply = Document.fromEntries(errorFields(translateError(error), NOWHERE));
      await this.#server.monitor.finished({ operation, command, reply, failed: true });
      if (admission.retry?.closesConnection === true) return undefined;
      return this.#refusal(error, request, placeOf(command, generic), this.#concernOf(asked));
    } finally {
      this.#leave(operation, admission);
    }
  }

  /** The write concern that a write is under. */
  #concernOf({ command, generic }: Asked): WriteConcern | undefined {
    if (!command.writeConcern) return undefined;
    return generic.writeConcern ?? (generic.inTransaction || !command.writes ? undefined : this.#server.defaults.write);
  }

  #leave(operation: OperationContext, admission: Admission): void {
    admission.session?.exit(operation);
    this.#running.delete(operation.id);
    admission.leave();
  }

  /** Runs a command that was made ready, and gives the whole reply. */
  #execute(context: CommandContext, asked: Asked, { run, failure }: Made): Soon<Document> {
    const { server, request } = context;
    const { command } = asked;
    const waits = isClosed(server) && writesData(command, request);
    const reply = waits || isAtomicStatement(context, command.name) ? this.#executeLater(context, command, { run, waits }) : run(context);
    return reply instanceof Promise ? reply.then((later) => this.#replied(context, asked, failure, later)) : this.#replied(context, asked, failure, reply);
  }

  async #executeLater(context: CommandContext, { name }: Command, { run, waits }: { readonly run: Run; readonly waits: boolean }): Promise<Reply | Document> {
    if (waits) await this.#waitToWrite(context.operation);
    return isAtomicStatement(context, name) ? runAtomically(context, run) : run(context);
  }

  /** The whole reply, which is noted. */
  #replied({ server, operation, generic }: CommandContext, asked: Asked, failure: Failure | undefined, reply: Reply | Document): Soon<Document> {
    const { command } = asked;
    noteWrite(server, command, generic);
    const fields = okFields(reply, this.#concernOf(asked));
    if (failure !== undefined) appendConcernError(fields, failure, placeOf(command, generic));
    const document = this.#finish(fields);
    const noted = server.monitor.finished({ operation, command, reply: document, failed: false });
    return noted === undefined ? document : noted.then(() => document);
  }

  /** The command made ready. */
  #prepare({ request, command, generic }: Asked): Run {
    const { time } = this.#server;
    const run = command.prepare(request, generic);
    if (generic.clusterTime !== undefined) time.observe(generic.clusterTime);
    checkAfter(generic, time.clusterTime);
    return run;
  }

  /** Lets a write wait, or refuses it, while the server takes none. */
  async #waitToWrite(operation: OperationContext): Promise<void> {
    const { gate, access } = this.#server;
    const limits = await access.limits(operation.connection);
    await gate.pass(operation, limits?.allows(clusterTarget, 'bypassWriteBlockingMode') ?? false);
  }

  /** The operation of an admitted request, which counts as running. */
  #begin({ connection, request, command, generic }: Asked, admission: Admission): OperationContext {
    const namespace = namespaceNamed(request, generic);
    const operation = new OperationContext({
      id: this.#nextOperation++,
      clock: this.#server.env.clock,
      turns: this.#turns,
      connection,
      maxTimeMs: command.name === 'getMore' ? 0 : generic.maxTimeMs,
      session: admission.session,
      transaction: admission.transaction,
      writes: command.writes,
      endsWithClient: !command.writes && command.inTransaction !== 'ends',
    });
    operation.command = command.name;
    operation.namespace = namespace;
    operation.body = request.body;
    this.#running.set(operation.id, operation);
    admission.session?.enter(operation);
    return operation;
  }

  /** Waits as a fail point says, at most as long as the client would, and throws the error that it makes. */
  async #failOnPurpose(failure: Failure, { maxTimeMs }: GenericFields): Promise<void> {
    const ends = maxTimeMs > 0 && failure.blockMs > maxTimeMs;
    if (failure.blockMs > 0) await this.#server.env.clock.sleep(ends ? maxTimeMs : failure.blockMs);
    if (ends) throw new CommandError(50, 'MaxTimeMSExpired', 'operation exceeded time limit');
    if (failure.closeConnection || failure.writeConcernError !== undefined || failure.error === undefined) return;
    throw failure.error;
  }

  #finish(fields: [string, Value][]): Document {
    const { options, time } = this.#server;
    if (!options.standalone) {
      const { clusterTime } = time;
      if (clusterTime !== this.#toldTime) {
        this.#toldTime = clusterTime;
        this.#told = Document.fromEntries([['clusterTime', clusterTime], ['signature', NO_SIGNATURE]]);
      }
      fields.push(['$clusterTime', this.#told]);
      fields.push(['operationTime', time.operationTime]);
    }
    return Document.fromEntries(fields);
  }
}

/** Refuses a command that may not be run here, or not with what it carries. */
function checkAllowed({ command, generic }: Asked): void {
  checkTransactionAllowed(command, generic);
  if (command.adminOnly && generic.db !== 'admin') {
    throw new CommandError(13, 'Unauthorized', `${command.name} may only be run against the admin database.`);
  }
  checkReadConcern(command, generic);
  checkWriteConcern(command, generic);
}

/** Whether the server takes no writes now, or not from everybody. */
function isClosed({ gate }: ServerState): boolean {
  return gate.locks > 0 || gate.blocked !== undefined;
}

/** Whether a command changes data: an aggregation does where its last stage writes. */
function writesData(command: Command, { body }: CommandRequest): boolean {
  if (command.writes || command.name !== 'aggregate') return command.writes;
  const pipeline = body.get('pipeline');
  const last = pipeline instanceof BsonArray ? pipeline.items().at(-1) : undefined;
  return last instanceof Document && (last.has('$out') || last.has('$merge'));
}

/** Users and roles are collections of `admin`, and may have been written like any other. */
function noteWrite(server: ServerState, command: Command, generic: GenericFields): void {
  if (command.writes && generic.db === 'admin') server.access.store.changed();
}

/** The generic fields with the session of the connection's user. */
function ofUser(generic: GenericFields, { user }: ConnectionContext): GenericFields {
  return user === '' || generic.lsid === undefined ? generic : { ...generic, lsid: sessionOfUser(generic.lsid, user) };
}

function placeOf(command: Command, generic: GenericFields): ErrorPlace {
  return {
    inTransaction: generic.inTransaction,
    endsTransaction: command.inTransaction === 'ends',
    retryableWrite: generic.txnNumber !== undefined && !generic.inTransaction,
  };
}

/** `db.collection` where the command's first field names a collection; else the database. */
function namespaceNamed(request: CommandRequest, { db }: GenericFields): string {
  const { first } = request.body;
  const named = first?.[0] === 'getMore' ? request.body.get('collection') : first?.[1];
  return typeof named === 'string' ? `${db}.${named}` : db;
}

/** A write concern error made on purpose, with the labels that its code has at this place or that were asked for. */
function appendConcernError(fields: [string, Value][], failure: Failure, place: ErrorPlace): void {
  const { writeConcernError: made, labels } = failure;
  if (made === undefined) return;
  const code = made.get('code');
  const own = typeof code === 'number' ? labelsOf({ code, labels: [] }, { ...place, inTransaction: false }) : [];
  const given = labels ?? own;
  fields.push(['writeConcernError', made]);
  if (given.length > 0) fields.push(['errorLabels', BsonArray.of([...given])]);
}

/** In a transaction the level is that of the transaction, whatever the command. */
function checkReadConcern(command: Command, generic: GenericFields): void {
  const level = generic.readConcern?.level;
  if (level === undefined || level === 'local' || generic.inTransaction || command.readConcern === 'all') return;
  if (command.readConcern === 'without-snapshot' && level !== 'snapshot') return;
  const text = `Command ${command.name} does not support { readConcern: { level: "${level}", provenance: "clientSupplied" } } :: caused by :: read concern not supported`;
  throw new CommandError(72, 'InvalidOptions', text);
}

/** What is to be read after must have been: times are told only when what they are of can be seen. */
function checkAfter({ readConcern }: GenericFields, now: Timestamp): void {
  const after = readConcern?.afterClusterTime;
  if (after === undefined || compareTimes(after, now) <= 0) return;
  const shown = (time: Timestamp): string => `{ ts: Timestamp(${String(time.seconds)}, ${String(time.increment)}) }`;
  const text = `readConcern afterClusterTime value must not be greater than the current clusterTime. Requested clusterTime: ${shown(after)}; current clusterTime: ${shown(now)}`;
  throw new CommandError(72, 'InvalidOptions', text);
}

function checkWriteConcern(command: Command, generic: GenericFields): void {
  if (generic.writeConcern === undefined || command.writeConcern) return;
  throw new CommandError(72, 'InvalidOptions', `Command ${command.name} does not support writeConcern`);
}

/** An error ends the transaction in which it came up. */
function endFailedTransaction(admission: Admission, command: Command): void {
  if (admission.transaction === undefined || command.inTransaction === 'ends') return;
  if (admission.session?.transaction === admission.transaction) admission.session.abortOpen();
  else admission.transaction.abort();
}

function okFields(reply: Reply | Document, concern: WriteConcern | undefined): [string, Value][] {
  const fields: [string, Value][] = [];
  if (reply instanceof Document) for (const [name, value] of reply.fields) fields.push([name, value]);
  else {
    for (const name of Object.keys(reply)) {
      const value = reply[name];
      if (value !== undefined) fields.push([name, value]);
    }
  }
  if (!fields.some(([name]) => name === 'ok')) fields.push(['ok', OK]);
  const unsatisfied = writeConcernError(concern);
  if (unsatisfied !== undefined) fields.push(['writeConcernError', unsatisfied]);
  return fields;
}

