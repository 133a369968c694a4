// Fail points: errors made on purpose, so that drivers' tests can see how a client takes them (drivers' specification "Transactions",
// "Server Fail Point"; MongoDB's `configureFailPoint`). There only in test mode. A point is asked for by those who stand where it fails; its
// mode says how often it does.

import { CommandError } from '../base/errors.ts';
import { BsonArray, Document, Double, isNumber, type Value } from '../bson/index.ts';
import type { ConnectionContext } from '../session/index.ts';
import { errorName } from './error-names.ts';
import { toInt64Truncated } from './number-fields.ts';

/** The points that somebody asks for. */
const POINTS: readonly string[] = ['failCommand', 'failGetMoreAfterCursorCheckout', 'onPrimaryTransactionalWrite', 'waitInHello', 'maxTimeAlwaysTimeOut', 'maxTimeNeverTimeOut'];

/** An error made on purpose with the labels that it is to have: no others are added. */
export class DeliberateError extends CommandError {}

/** What a point does where it is met. */
export interface Failure {
  /** Milliseconds to wait first. */
  readonly blockMs: number;
  readonly closeConnection: boolean;
  readonly error: CommandError | undefined;
  /** For a write concern error: labels instead of those that the server would give. */
  readonly labels: readonly string[] | undefined;
  /** The command is done, and its reply has this. */
  readonly writeConcernError: Document | undefined;
}

interface Point {
  data: Document;
  /** How often it still fails; infinite: always. */
  times: number;
  /** How often it is passed over first. */
  skip: number;
  probability: number;
  /** How often it was met since it was set. */
  met: number;
}

/** Where a command stands that may fail. */
export interface CommandPlace {
  readonly command: { readonly name: string; readonly aliases: readonly string[]; readonly writeConcern: boolean };
  readonly generic: { readonly db: string };
  readonly connection: ConnectionContext;
  /** The command as it was sent: the first hello of a connection says who it is. */
  readonly body: Document;
  /** The namespace it is on, as far as its first field tells. */
  readonly namespace: string;
}

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

function numberIn(document: Document, name: string): number | undefined {
  const value = document.get(name);
  if (value === undefined || value === null) return undefined;
  if (!isNumber(value)) throw new CommandError(14, 'TypeMismatch', `'${name}' of a fail point must be a number`);
  return Number(toInt64Truncated(value));
}

function textsIn(document: Document, name: string): readonly string[] | undefined {
  const value = document.get(name);
  if (!(value instanceof BsonArray)) return undefined;
  return value.items().filter((item): item is string => typeof item === 'string');
}

function truth(value: Value | undefined): boolean {
  return value === true || (value !== undefined && isNumber(value) && toInt64Truncated(value) !== 0n);
}

/** How often a mode lets a point fail. Undefined: it is off. */
function parseMode(mode: Value): Pick<Point, 'times' | 'skip' | 'probability'> | undefined {
  if (mode === 'off') return undefined;
  if (mode === 'alwaysOn') return { times: Infinity, skip: 0, probability: 1 };
  if (typeof mode === 'string') throw badValue(`unknown mode: ${mode}`);
  if (!(mode instanceof Document)) throw new CommandError(14, 'TypeMismatch', "'mode' must be a string or JSON object");
  const probability = mode.get('activationProbability');
  if (probability !== undefined) {
    const given = probability instanceof Double ? probability.value : Number(probability);
    if (!(given >= 0 && given <= 1)) throw badValue('activationProbability must be between 0.0 and 1.0');
    return { times: Infinity, skip: 0, probability: given };
  }
  const times = numberIn(mode, 'times');
  if (times !== undefined) {
    if (times < 0) throw badValue("'times' option to 'mode' must be positive");
    return times === 0 ? undefined : { times, skip: 0, probability: 1 };
  }
  const skip = numberIn(mode, 'skip');
  if (skip === undefined) throw badValue("'mode' must be one of 'off', 'alwaysOn', 'times', 'skip', and 'activationProbability'");
  if (skip < 0) throw badValue("'skip' option to 'mode' must be positive");
  return { times: Infinity, skip, probability: 1 };
}

function madeError(code: number, text: string, labels: readonly string[] | undefined): CommandError {
  if (labels === undefined) return new CommandError(code, errorName(code), text);
  return new DeliberateError(code, errorName(code), text, { labels });
}

function failureOf(data: Document): Failure {
  const blocks = truth(data.get('blockConnection'));
  const blockMs = numberIn(data, 'blockTimeMS');
  if (blocks && blockMs === undefined) throw new CommandError(72, 'InvalidOptions', "must specify 'blockTimeMS' when 'blockConnection' is true");
  const code = numberIn(data, 'errorCode');
  const concern = data.get('writeConcernError');
  const labels = textsIn(data, 'errorLabels');
  const text = "Failing command via 'failCommand' failpoint";
  return {
    blockMs: blocks ? (blockMs ?? 0) : 0,
    closeConnection: truth(data.get('closeConnection')),
    error: code === undefined ? undefined : madeError(code, text, labels),
    labels,
    writeConcernError: concern instanceof Document ? concern : undefined,
  };
}

/** All points of one server. */
export class FailPoints {
  readonly #random: () => number;
  readonly #points: Map<string, Point> = new Map();

  /** `random` gives numbers from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Sets a point; gives how often it was met since it was set before. */
  configure(name: string, mode: Value, data: Document): number {
    if (!POINTS.includes(name)) throw badValue(`${name} not found`);
    const met = this.#points.get(name)?.met ?? 0;
    const parsed = parseMode(mode);
    failureOf(data);
    if (parsed === undefined) this.#points.delete(name);
    else this.#points.set(name, { ...parsed, data, met: 0 });
    return met;
  }

  /** Whether any is set. */
  get any(): boolean {
    return this.#points.size > 0;
  }

  /** What `failCommand` does to this command; undefined: nothing. */
  command(place: CommandPlace): Failure | undefined {
    const point = this.#points.get('failCommand');
    if (point === undefined || place.command.name === 'configureFailPoint' || !isMeant(point.data, place)) return undefined;
    const failure = failureOf(point.data);
    if (failure.writeConcernError !== undefined && !place.command.writeConcern) return undefined;
    return this.#fires(point) ? failure : undefined;
  }

  /** What another point does where it is met; undefined: nothing. */
  at(name: string): { readonly failure: Failure; readonly data: Document } | undefined {
    const point = this.#points.get(name);
    if (point === undefined || !this.#fires(point)) return undefined;
    return { failure: failureOf(point.data), data: point.data };
  }

  /** Whether what has a limit of time is to run out of it at once. */
  timesOut(): boolean {
    return this.#points.size > 0 && this.at('maxTimeAlwaysTimeOut') !== undefined;
  }

  #fires(point: Point): boolean {
    if (point.skip > 0) {
      point.skip -= 1;
      return false;
    }
    if (point.probability < 1 && this.#random() >= point.probability) return false;
    // A point that has failed as often as it should stays known, so that whoever turns it off is told how often.
    if (point.times <= 0) return false;
    point.met += 1;
    point.times -= 1;
    return true;
  }
}

/** The name that a first hello gives its client. */
function announcedName(body: Document): Value | undefined {
  const client = body.get('client');
  const application = client instanceof Document ? client.get('application') : undefined;
  return application instanceof Document ? application.get('name') : undefined;
}

function isMeant(data: Document, { command, generic, connection, body, namespace }: CommandPlace): boolean {
  const appName = data.get('appName');
  if (typeof appName === 'string' && appName !== (connection.metadata?.appName ?? announcedName(body))) return false;
  const ns = data.get('namespace');
  if (typeof ns === 'string' && ns !== namespace && ns !== generic.db) return false;
  if (truth(data.get('failAllCommands'))) return true;
  const names = textsIn(data, 'failCommands') ?? [];
  return names.includes(command.name) || command.aliases.some((alias) => names.includes(alias));
}
