// What is kept of a password: salted, iterated keys (RFC 5802, RFC 7677), in the shape of MongoDB's system.users. The password itself is
// never kept, and what is kept does not let anybody log in.

import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { decodeBase64, encodeBase64 } from '../base/base64.ts';
import { CommandError } from '../base/errors.ts';
import { Document, isNumber, toDouble } from '../bson/index.ts';
import type { Random } from '../env/index.ts';

/** A mechanism that works by password. */
export type ScramMechanism = 'SCRAM-SHA-1' | 'SCRAM-SHA-256';

/** How each is computed. Counts and salts are those of MongoDB. */
export const SCRAM_RULES: Readonly<Record<ScramMechanism, { readonly hash: 'sha1' | 'sha256'; readonly keyBytes: number; readonly saltBytes: number; readonly iterations: number }>> = {
  'SCRAM-SHA-1': { hash: 'sha1', keyBytes: 20, saltBytes: 16, iterations: 10_000 },
  'SCRAM-SHA-256': { hash: 'sha256', keyBytes: 32, saltBytes: 28, iterations: 15_000 },
};

/** What is kept of a password for one mechanism. */
export interface ScramCredential {
  readonly iterationCount: number;
  readonly salt: Uint8Array;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

/** The digest by which a session's id names its user (`user@database`), as MongoDB's has it. */
export function userDigest(user: string): Uint8Array {
  return createHash('sha256').update(user, 'utf8').digest();
}

/** The form in which SCRAM-SHA-1 takes a password. */
export function digestPassword(user: string, password: string): string {
  return createHash('md5').update(`${user}:mongo:${password}`, 'utf8').digest('hex');
}

function derive(hash: 'sha1' | 'sha256', password: string, rule: { salt: Uint8Array; iterations: number; keyBytes: number }): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, rule.salt, rule.iterations, rule.keyBytes, hash, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** Makes what is to be kept. `password` is in the form the mechanism takes: digested for SHA-1, prepared for SHA-256. */
export async function makeCredential(mechanism: ScramMechanism, password: string, random: Random): Promise<ScramCredential> {
  const { hash, keyBytes, saltBytes, iterations } = SCRAM_RULES[mechanism];
  const salt = random.bytes(saltBytes);
  const salted = await derive(hash, password, { salt, iterations, keyBytes });
  const clientKey = createHmac(hash, salted).update('Client Key').digest();
  return {
    iterationCount: iterations,
    salt,
    storedKey: createHash(hash).update(clientKey).digest(),
    serverKey: createHmac(hash, salted).update('Server Key').digest(),
  };
}

/** Whether a password is the one that was kept; in the form the mechanism takes. For those who are given passwords, as HTTP is. */
export async function passwordMatches(mechanism: ScramMechanism, kept: ScramCredential, password: string): Promise<boolean> {
  const { hash, keyBytes } = SCRAM_RULES[mechanism];
  const salted = await derive(hash, password, { salt: kept.salt, iterations: kept.iterationCount, keyBytes });
  const storedKey = createHash(hash).update(createHmac(hash, salted).update('Client Key').digest()).digest();
  return storedKey.length === kept.storedKey.length && timingSafeEqual(storedKey, kept.storedKey);
}

/** As system.users has it. */
export function credentialDocument({ iterationCount, salt, storedKey, serverKey }: ScramCredential): Document {
  return Document.of({ iterationCount, salt: encodeBase64(salt), storedKey: encodeBase64(storedKey), serverKey: encodeBase64(serverKey) });
}

/** What system.users has; a damaged one is an error, never an open door. */
export function readCredential(stored: Document): ScramCredential {
  const count = stored.get('iterationCount');
  const [salt, storedKey, serverKey] = ['salt', 'storedKey', 'serverKey'].map((name) => {
    const text = stored.get(name);
    return typeof text === 'string' ? decodeBase64(text) : undefined;
  });
  if (!isNumber(count) || !salt || !storedKey || !serverKey || storedKey.length < 20 || serverKey.length !== storedKey.length) {
    throw new CommandError(18, 'AuthenticationFailed', 'Authentication failed.');
  }
  return { iterationCount: toDouble(count), salt, storedKey, serverKey };
}
