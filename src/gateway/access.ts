// Who may ask for what. Without accounts a gateway is for this machine only. With them every request says who it is from: HTTP Basic with a user of
// the database, a bearer token of the operator, or a signed address that was given out for one file and a short time, because a player cannot send
// header fields. What a user may do is asked of the database, never decided here.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { decodeBase64, encodeBase64 } from '../base/base64.ts';
import { HttpError } from '../base/errors.ts';
import { decodeUtf8, encodeUtf8 } from '../base/text.ts';
import type { Clock } from '../env/index.ts';
import type { FileStore } from '../gridfs/index.ts';
import type { Route, RouteKind } from './route.ts';

/** What a request does: looks at files, changes them, or looks at the server. */
export type Right = 'read' | 'write' | 'status';

/** Somebody who is known. */
export interface Caller {
  /** Whether they may, with the files of a bucket (`status`: with the server). */
  may(right: Right, db: string, bucket: string): boolean;
  /** Where their files are, where it is not the gateway's own store. */
  readonly store?: FileStore;
}

/** A password of its own, which the operator gave out. */
export interface AccessToken {
  readonly token: string;
  readonly rights: readonly Right[];
  /** The database it is for; undefined: all. */
  readonly db: string | undefined;
}

/** How callers are known. */
export interface AccessRules {
  /** The user with this password; undefined where there is none. */
  readonly logIn?: (user: string, password: string) => Promise<Caller | undefined>;
  readonly tokens?: readonly AccessToken[];
}

/** Rights that each kind of path needs; undefined: none. Writing methods need `write` besides. */
const needs: Readonly<Record<RouteKind, Right | undefined>> = {
  'named-file': 'read', file: 'read', files: 'read', 'file-document': 'read', check: 'read', link: 'read', uploads: 'write', upload: 'write',
  page: 'read', 'status-page': 'status', 'status-data': 'status', metrics: 'status', health: undefined, asset: undefined,
};

/** A login that succeeded is not asked again for so long: players ask often, and a password takes the database milliseconds. */
const rememberedMs = 30_000;
const rememberedMax = 1000;

/** Signed addresses are valid for at most a day. */
const linkSecondsMax = 86_400;

/** Tells callers apart. */
export class AccessControl {
  readonly #rules: AccessRules;
  readonly #clock: Clock;
  readonly #key: Uint8Array;
  readonly #remembered: Map<string, { readonly caller: Caller; readonly untilMs: number }> = new Map();

  /** `key`: what addresses are signed with; nobody else knows it. */
  constructor(rules: AccessRules, clock: Clock, key: Uint8Array) {
    this.#rules = rules;
    this.#clock = clock;
    this.#key = key;
  }

  /** Whether anybody is asked who they are. */
  get isOpen(): boolean {
    return this.#rules.logIn === undefined && this.#rules.tokens === undefined;
  }

  /** Who asks, if they may; undefined where nobody is asked. HttpError 401, 403. */
  async admit(route: Route, method: string, authorization: string | undefined): Promise<Caller | undefined> {
    const right = needs[route.kind];
    if (this.isOpen || right === undefined) return undefined;
    if (this.#isSigned(route, method)) return undefined;
    const caller = await this.#callerOf(authorization);
    if (caller === undefined) throw new HttpError(401, 'unauthorized', authorization === undefined ? 'say who you are' : 'the user, the password or the token is wrong');
    const isWrite = method !== 'GET' && method !== 'HEAD' && route.kind !== 'link';
    if (!caller.may(right, route.db, route.bucket) || (isWrite && !caller.may('write', route.db, route.bucket))) throw new HttpError(403, 'forbidden', 'you may not do that here');
    return caller;
  }

  async #callerOf(authorization: string | undefined): Promise<Caller | undefined> {
    const [, scheme = '', value = ''] = /^(\w+) +([\w.~+/=-]+) *$/.exec(authorization ?? '') ?? [];
    if (scheme.toLowerCase() === 'bearer') return this.#callerOfToken(value);
    return scheme.toLowerCase() === 'basic' ? await this.#callerOfPassword(value) : undefined;
  }

  #callerOfToken(token: string): Caller | undefined {
    const given = createHash('sha256').update(token).digest();
    const found = this.#rules.tokens?.find((one) => timingSafeEqual(createHash('sha256').update(one.token).digest(), given));
    return found === undefined ? undefined : { may: (right, db) => found.rights.includes(right) && (found.db === undefined || found.db === db) };
  }

  async #callerOfPassword(text: string): Promise<Caller | undefined> {
    const bytes = decodeBase64(text);
    const [, user, password] = /^([^:]*):([^]*)$/.exec(bytes === undefined ? '' : decodeUtf8(bytes, 0, bytes.length)) ?? [];
    if (this.#rules.logIn === undefined || user === undefined || password === undefined) return undefined;
    // Passwords are not kept, only that this one was right.
    const name = createHmac('sha256', this.#key).update(text).digest('base64');
    const known = this.#remembered.get(name);
    if (known !== undefined && known.untilMs > this.#clock.monotonicMs()) return known.caller;
    const caller = await this.#rules.logIn(user, password);
    this.#remembered.delete(name);
    if (caller !== undefined) this.#remembered.set(name, { caller, untilMs: this.#clock.monotonicMs() + rememberedMs });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > rememberedMax && oldest !== undefined) this.#remembered.delete(oldest);
    return caller;
  }

  /** The query of an address that anybody may read one file with until `seconds` from now have passed. */
  sign({ db, bucket, name }: Pick<Route, 'db' | 'bucket' | 'name'>, seconds: number): { readonly query: string; readonly expiresMs: number } {
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > linkSecondsMax) throw new HttpError(400, 'bad_request', `seconds is a whole number from 1 to ${linkSecondsMax}`);
    const expires = Math.floor(this.#clock.nowMs() / 1000) + seconds;
    return { query: `exp=${expires}&sig=${this.#signature({ db, bucket, name }, expires)}`, expiresMs: expires * 1000 };
  }

  #signature({ db, bucket, name }: Pick<Route, 'db' | 'bucket' | 'name'>, expires: number): string {
    const digest = createHmac('sha256', this.#key).update(encodeUtf8(JSON.stringify(['GET', db, bucket, name, expires]))).digest();
    return encodeBase64(digest).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  }

  /** Whether the address is signed for this file. HttpError 403 where its signature is wrong, or its time is over. */
  #isSigned(route: Route, method: string): boolean {
    const [expires, signature] = [route.query.get('exp'), route.query.get('sig')];
    if (signature === null || route.kind !== 'file' || (method !== 'GET' && method !== 'HEAD')) return false;
    const until = /^\d{1,12}$/.test(expires ?? '') ? Number(expires) : 0;
    const [given, right] = [encodeUtf8(signature), encodeUtf8(this.#signature(route, until))];
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw new HttpError(403, 'bad_signature', 'the signature of this address is not right');
    if (until * 1000 <= this.#clock.nowMs()) throw new HttpError(403, 'bad_signature', 'the time of this address is over');
    return true;
  }
}
