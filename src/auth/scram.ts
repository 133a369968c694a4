// The server's side of SCRAM (RFC 5802): who talks proves to know the password without sending it, and is shown that this server knows it
// too. Texts of a client are taken apart strictly; whatever is wrong ends in the same "Authentication failed".

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { decodeBase64, encodeBase64 } from '../base/base64.ts';
import { CommandError } from '../base/errors.ts';
import type { Random } from '../env/index.ts';
import { SCRAM_RULES, type ScramCredential, type ScramMechanism } from './credentials.ts';

const NONCE_BYTES = 24;

/** Longest message taken from a client. */
const MESSAGE_CHARS_MAX = 4096;

function failed(): CommandError {
  return new CommandError(18, 'AuthenticationFailed', 'Authentication failed.');
}

/** The first message of a client, taken apart. */
export interface ClientFirst {
  readonly user: string;
  readonly nonce: string;
  /** The message without the channel binding before it. */
  readonly bare: string;
  readonly bindingHeader: string;
}

/** Takes the first message apart: `n,,n=USER,r=NONCE`. */
export function parseClientFirst(text: string): ClientFirst {
  const match = text.length > MESSAGE_CHARS_MAX ? null : /^((?:n|y),(?:a=[^,]*)?,)(n=([^,]*),r=([!-+\--~]+)(?:,.*)?)$/su.exec(text);
  if (match === null) throw failed();
  const [, bindingHeader = '', bare = '', encoded = '', nonce = ''] = match;
  if (/=(?!2C|3D)/.test(encoded)) throw failed();
  return { user: encoded.replaceAll('=2C', ',').replaceAll('=3D', '='), nonce, bare, bindingHeader };
}

/** The server's part of a nonce. */
export function freshNonce(random: Random): string {
  return encodeBase64(random.bytes(NONCE_BYTES));
}

/** One exchange, from the client's first message on. */
export class ScramConversation {
  readonly #mechanism: ScramMechanism;
  readonly #credential: ScramCredential;
  readonly #clientFirst: ClientFirst;
  readonly #nonce: string;

  /** `serverNonce`: made by `freshNonce` for this exchange alone. */
  constructor(mechanism: ScramMechanism, credential: ScramCredential, clientFirst: ClientFirst, serverNonce: string) {
    this.#mechanism = mechanism;
    this.#credential = credential;
    this.#clientFirst = clientFirst;
    this.#nonce = clientFirst.nonce + serverNonce;
  }

  /** The server's first message. */
  get serverFirst(): string {
    const { salt, iterationCount } = this.#credential;
    return `r=${this.#nonce},s=${encodeBase64(salt)},i=${String(iterationCount)}`;
  }

  /** Checks the client's proof and gives the server's. A wrong one is 18. */
  finish(clientFinal: string): string {
    const match = clientFinal.length > MESSAGE_CHARS_MAX ? null : /^(c=([A-Za-z0-9+/=]*),r=([!-+\--~]+)(?:,[^p][^,]*)*),p=([A-Za-z0-9+/=]+)$/u.exec(clientFinal);
    if (match === null) throw failed();
    const [, withoutProof = '', binding = '', nonce = '', proofText = ''] = match;
    if (nonce !== this.#nonce || binding !== encodeBase64(new TextEncoder().encode(this.#clientFirst.bindingHeader))) throw failed();
    const { hash, keyBytes } = SCRAM_RULES[this.#mechanism];
    const proof = decodeBase64(proofText);
    if (proof?.length !== keyBytes) throw failed();
    const message = `${this.#clientFirst.bare},${this.serverFirst},${withoutProof}`;
    const { storedKey, serverKey } = this.#credential;
    const signature = createHmac(hash, storedKey).update(message, 'utf8').digest();
    const clientKey = proof.map((byte, at) => byte ^ (signature[at] as number));
    if (!timingSafeEqual(createHash(hash).update(clientKey).digest(), storedKey)) throw failed();
    return `v=${encodeBase64(createHmac(hash, serverKey).update(message, 'utf8').digest())}`;
  }
}
