import assert from 'node:assert/strict';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { test } from 'node:test';
import { makeCredential, parseClientFirst, saslPrepare, ScramConversation, type ScramCredential, type ScramMechanism } from '../../src/auth/index.ts';

/** The credential of a password, as RFC 5802 section 3 computes it. */
function credentialOf(hash: 'sha1' | 'sha256', password: string, salt: Buffer, iterationCount: number): ScramCredential {
  const salted = pbkdf2Sync(password, salt, iterationCount, hash === 'sha1' ? 20 : 32, hash);
  const clientKey = createHmac(hash, salted).update('Client Key').digest();
  return { iterationCount, salt, storedKey: createHash(hash).update(clientKey).digest(), serverKey: createHmac(hash, salted).update('Server Key').digest() };
}

interface Vector {
  readonly mechanism: ScramMechanism;
  readonly credential: ScramCredential;
  readonly clientFirst: string;
  readonly serverNonce: string;
  readonly serverFirst: string;
  readonly clientFinal: string;
  readonly serverFinal: string;
}

const vectors: readonly Vector[] = [
  {
    // RFC 5802, section 5
    mechanism: 'SCRAM-SHA-1',
    credential: credentialOf('sha1', 'pencil', Buffer.from('QSXCR+Q6sek8bf92', 'base64'), 4096),
    clientFirst: 'n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL',
    serverNonce: '3rfcNHYJY1ZVvWVs7j',
    serverFirst: 'r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096',
    clientFinal: 'c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=',
    serverFinal: 'v=rmF9pqV8S7suAoZWja4dJRkFsKQ=',
  },
  {
    // RFC 7677, section 3
    mechanism: 'SCRAM-SHA-256',
    credential: credentialOf('sha256', 'pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'), 4096),
    clientFirst: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
    serverNonce: '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
    serverFirst: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    clientFinal: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    serverFinal: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  },
];

const failure = { code: 18, message: 'Authentication failed.' };

for (const vector of vectors) {
  const begin = (): ScramConversation => new ScramConversation(vector.mechanism, vector.credential, parseClientFirst(vector.clientFirst), vector.serverNonce);

  test(`${vector.mechanism} talks as the example of its RFC`, () => {
    const conversation = begin();
    assert.equal(conversation.serverFirst, vector.serverFirst);
    assert.equal(conversation.finish(vector.clientFinal), vector.serverFinal);
  });

  test(`${vector.mechanism} takes no message that differs from the right one in any place`, () => {
    for (let at = 0; at < vector.clientFinal.length; at++) {
      const old = vector.clientFinal.charAt(at);
      const changed = vector.clientFinal.slice(0, at) + (old === 'A' ? 'B' : 'A') + vector.clientFinal.slice(at + 1);
      assert.throws(() => begin().finish(changed), failure, changed);
    }
    assert.throws(() => begin().finish(''), failure);
    assert.throws(() => begin().finish(vector.clientFinal + ' '.repeat(10_000)), failure);
  });
}

test('a first message names its user, with commas and equal signs unescaped, or is refused', () => {
  assert.equal(parseClientFirst('n,,n=a=2Cb=3Dc,r=x').user, 'a,b=c');
  assert.equal(parseClientFirst('n,,n=jürgen,r=x').user, 'jürgen');
  for (const wrong of ['', 'n,,', 'n,,n=a', 'n,,r=x', 'p=tls-unique,,n=a,r=x', 'n,,n=a=2Xb,r=x', 'n,,m=1,n=a,r=x', 'n,,n=a,r=']) {
    assert.throws(() => parseClientFirst(wrong), failure, wrong);
  }
});

test('no password has the same credential twice', async () => {
  let next = 0;
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++next), uint32: () => 0 };
  const [first, second] = [await makeCredential('SCRAM-SHA-256', 'pencil', random), await makeCredential('SCRAM-SHA-256', 'pencil', random)];
  assert.equal(first.iterationCount, 15_000);
  assert.equal(first.salt.length, 28);
  assert.notDeepEqual(first.storedKey, second.storedKey);
  assert.deepEqual(Buffer.from(first.storedKey), credentialOf('sha256', 'pencil', Buffer.from(first.salt), 15_000).storedKey);
});

test('SASLprep does what the examples of RFC 4013 say', () => {
  assert.equal(saslPrepare('I\u00adX'), 'IX');
  assert.equal(saslPrepare('user'), 'user');
  assert.equal(saslPrepare('USER'), 'USER');
  assert.equal(saslPrepare('\u00aa'), 'a');
  assert.equal(saslPrepare('\u2168'), 'IX');
  assert.throws(() => saslPrepare('\u0007'), { code: 2 });
  assert.throws(() => saslPrepare('\u0627\u0031'), { code: 2 });
});
