// How a gateway knows who asks: users of the database by name and password, tokens that the operator gave out in a file, a key for signed addresses.

import { readFile } from 'node:fs/promises';
import type { Authorization } from '../auth/index.ts';
import { namespaceTarget, clusterTarget } from '../auth/index.ts';
import type { AccessToken, Caller, Right } from '../gateway/index.ts';
import { FrondUsage } from './usage.ts';

/** Where the settings of access are. */
export interface AccessWords {
  readonly tokensFile: string | undefined;
  readonly signingKeyFile: string | undefined;
  /** Separated by commas. */
  readonly origins: string | undefined;
}

/** The settings, read. */
export interface AccessSettings {
  readonly tokens: readonly AccessToken[] | undefined;
  readonly signingKey: Uint8Array | undefined;
  readonly origins: readonly string[];
}

const signingKeyBytesMin = 16;

/** Reads them. FrondUsage for what they cannot mean. */
export async function readAccessSettings({ tokensFile, signingKeyFile, origins }: AccessWords): Promise<AccessSettings> {
  const signingKey = signingKeyFile === undefined ? undefined : await readOrRefuse(signingKeyFile);
  if (signingKey !== undefined && signingKey.length < signingKeyBytesMin) throw new FrondUsage(`${signingKeyFile ?? ''} is no key: at least ${signingKeyBytesMin} bytes`);
  const tokens = tokensFile === undefined ? undefined : readTokens(new TextDecoder().decode(await readOrRefuse(tokensFile)), tokensFile);
  return { tokens, signingKey, origins: readOrigins(origins) };
}

async function readOrRefuse(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new FrondUsage(`the file ${path} cannot be read`, { cause });
  }
}

/** Lines of `TOKEN read|write|status[,…] [DATABASE]`; # begins a comment. */
function readTokens(text: string, path: string): readonly AccessToken[] {
  const tokens: AccessToken[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const [token, rights = '', db, ...more] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    if (token === undefined || token === '') continue;
    const read = rights.split(',').map(rightNamed);
    if (!/^[\w.~+/=-]{16,}$/.test(token) || more.length > 0 || read.includes(undefined)) throw new FrondUsage(`${path}, line ${i + 1}: a token of 16 letters or more, its rights (read, write, status), perhaps a database`);
    tokens.push({ token, rights: read.filter((right) => right !== undefined), db });
  }
  return tokens;
}

function rightNamed(name: string): Right | undefined {
  return name === 'read' || name === 'write' || name === 'status' ? name : undefined;
}

function readOrigins(text: string | undefined): readonly string[] {
  const origins = (text ?? '').split(',').map((origin) => origin.trim()).filter((origin) => origin !== '');
  for (const origin of origins) {
    if (!/^https?:\/\/[^/\s]+$/.test(origin)) throw new FrondUsage(`${origin} is no origin, as https://films.example`);
  }
  return origins;
}

const writes = ['insert', 'update', 'remove'] as const;

/** Somebody with the rights of a user of the database. */
export function callerWith(authorization: Authorization): Caller {
  return {
    may: (right, db, bucket) => {
      if (right === 'status') return authorization.allows(clusterTarget, 'serverStatus');
      const targets = [namespaceTarget(db, `${bucket}.files`), namespaceTarget(db, `${bucket}.chunks`)];
      return targets.every((target) => (right === 'read' ? authorization.allows(target, 'find') : writes.every((action) => authorization.allows(target, action))));
    },
  };
}

/** The databases in which a user may be, in the order they are looked in: `name@database` says which. */
export function userPlaces(text: string, dbDefault: string): readonly (readonly [user: string, db: string])[] {
  const at = text.lastIndexOf('@');
  const places: (readonly [string, string])[] = [[text, 'admin'], ...(dbDefault === 'admin' ? [] : [[text, dbDefault] as const])];
  return at > 0 ? [[text.slice(0, at), text.slice(at + 1)], ...places] : places;
}
