import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { MongoClientOptions } from 'mongodb';
import type { TlsSettings } from '../../src/env/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../../test/server/testdata/tls/${name}.pem`, import.meta.url));
}

async function settings(changes: Partial<TlsSettings> = {}): Promise<TlsSettings> {
  return {
    required: true,
    certificateKey: await readFile(pathOf('server')),
    authority: await readFile(pathOf('ca')),
    certificateOptional: true,
    invalidAllowed: false,
    ...changes,
  };
}

const trusting: MongoClientOptions = { tls: true, tlsCAFile: pathOf('ca'), serverSelectionTimeoutMS: 1000 };
const certified: MongoClientOptions = { ...trusting, tlsCertificateKeyFile: pathOf('client') };

test('a driver talks over TLS, and a plain one is refused where TLS is required', async () => {
  const server = await openServerForTest({ tls: await settings() });
  try {
    const client = await server.driver(trusting);
    await client.db('d').collection('c').insertOne({ text: 'x'.repeat(300_000) });
    assert.equal(await client.db('d').collection('c').countDocuments({ text: 'x'.repeat(300_000) }), 1);
    await assert.rejects(server.driver({ serverSelectionTimeoutMS: 300 }));
    await assert.rejects(server.driver({ tls: true, serverSelectionTimeoutMS: 300 }), /self-signed|unable to verify/);
  } finally {
    await server.close();
  }
});

test('where TLS is allowed plain connections are taken beside secure ones, and one that says nothing holds up nobody', async () => {
  const server = await openServerForTest({ tls: await settings({ required: false }) });
  try {
    const silent = await server.deaf();
    assert.equal((await (await server.driver()).db('d').command({ ping: 1 }))['ok'], 1);
    assert.equal((await (await server.driver(trusting)).db('d').command({ ping: 1 }))['ok'], 1);
    silent.destroy();
  } finally {
    await server.close();
  }
});

test('a client logs in by its certificate, and by no other name or certificate', async () => {
  const server = await openServerForTest({ authorization: true, tls: await settings() });
  try {
    const first = await server.driver(certified);
    await first.db('admin').command({ createUser: 'root', pwd: 'pw', roles: ['root'] });
    const root = await server.driver({ ...trusting, auth: { username: 'root', password: 'pw' } });
    const x509: MongoClientOptions = { ...certified, authMechanism: 'MONGODB-X509' };
    await assert.rejects(server.driver(x509), { code: 18 });
    const subject = String.raw`CN=ada,OU=Desk,O=Frond\, Inc.,C=DE`;
    await root.db('$external').command({ createUser: subject, roles: [{ role: 'read', db: 'shop' }] });
    const ada = await server.driver(x509);
    const status = (await ada.db('admin').command({ connectionStatus: 1 })) as { authInfo: { authenticatedUsers: unknown } };
    assert.deepEqual(status.authInfo.authenticatedUsers, [{ user: subject, db: '$external' }]);
    assert.equal(await ada.db('shop').collection('c').countDocuments(), 0);
    await assert.rejects(ada.db('shop').collection('c').insertOne({}), { code: 13 });
    await assert.rejects(server.driver({ ...trusting, authMechanism: 'MONGODB-X509' }), { code: 18 });
    await assert.rejects(server.driver({ ...trusting, tlsCertificateKeyFile: pathOf('stranger'), serverSelectionTimeoutMS: 300 }));
  } finally {
    await server.close();
  }
});

test('a client without a certificate is refused where one is needed', async () => {
  const server = await openServerForTest({ tls: await settings({ certificateOptional: false }) });
  try {
    await assert.rejects(server.driver({ ...trusting, serverSelectionTimeoutMS: 300 }));
    assert.equal((await (await server.driver(certified)).db('d').command({ ping: 1 }))['ok'], 1);
  } finally {
    await server.close();
  }
});
