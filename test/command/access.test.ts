import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MongoClient, type Db, type Document, type Long, type MongoClientOptions } from 'mongodb';
import { commandNames } from '../../src/command/index.ts';
import { hasRule } from '../../src/command/users/command-rules.ts';
import { openServerForTest, type ServerForTest } from '../support/open-server-for-test.ts';

const denied = { code: 13 };

async function usersOf(db: Db, command: Document): Promise<Document[]> {
  return ((await db.command(command)) as { users: Document[] }).users;
}

async function guarded(work: (server: ServerForTest, as: (user: string, password: string, options?: MongoClientOptions) => Promise<MongoClient>) => Promise<void>): Promise<void> {
  const server = await openServerForTest({ authorization: true });
  const clients: MongoClient[] = [];
  try {
    const nobody = await server.driver();
    await nobody.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] });
    await work(server, async (username, password, options = {}) => {
      const client = new MongoClient(server.uri, { auth: { username, password }, serverSelectionTimeoutMS: 5000, ...options });
      clients.push(client);
      return client.connect();
    });
  } finally {
    for (const client of clients) await client.close();
    await server.close();
  }
}

test('every command says what it needs', () => {
  assert.deepEqual(commandNames().filter((name) => !hasRule(name)), []);
});

test('before the first user whoever is on this machine may make one, and nothing else', async () => {
  const server = await openServerForTest({ authorization: true });
  try {
    const client = await server.driver();
    await assert.rejects(client.db('shop').collection('c').findOne(), { code: 13, message: 'Command find requires authentication' });
    await assert.rejects(client.db('shop').command({ createUser: 'a', pwd: 'b', roles: [] }), denied);
    await client.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] });
    await assert.rejects(client.db('admin').command({ createUser: 'second', pwd: 'b', roles: ['root'] }), denied);
    assert.equal((await client.db('admin').command({ ping: 1 }))['ok'], 1);
    assert.equal((await client.db('admin').command({ hello: 1 }))['ok'], 1);
  } finally {
    await server.close();
  }
});

test('drivers log in by either mechanism, and a wrong password is 18', async () => {
  await guarded(async (_server, as) => {
    for (const authMechanism of ['DEFAULT', 'SCRAM-SHA-1', 'SCRAM-SHA-256'] as const) {
      const client = await as('root', 'secret', { authMechanism });
      const status = await client.db('admin').command({ connectionStatus: 1 });
      assert.deepEqual(status['authInfo'], { authenticatedUsers: [{ user: 'root', db: 'admin' }], authenticatedUserRoles: [{ role: 'root', db: 'admin' }] });
      await assert.rejects(as('root', 'Secret', { authMechanism }), { code: 18 });
      await assert.rejects(as('nobody', 'secret', { authMechanism }), { code: 18 });
    }
  });
});

test('a user does what the roles say and nothing more, at once also when they change', async () => {
  await guarded(async (_server, as) => {
    const root = await as('root', 'secret');
    await root.db('shop').collection('orders').insertOne({ a: 1 });
    await root.db('bank').collection('accounts').insertOne({ a: 1 });
    await root.db('shop').command({ createUser: 'clerk', pwd: 'pw', roles: ['read'] });
    const clerk = (await as('clerk', 'pw', { authSource: 'shop' })).db('shop');
    assert.equal(await clerk.collection('orders').countDocuments(), 1);
    await assert.rejects(clerk.collection('orders').insertOne({ a: 2 }), { code: 13, message: /^not authorized on shop to execute command \{ insert: "orders"/ });
    await assert.rejects(clerk.client.db('bank').collection('accounts').findOne(), denied);
    await assert.rejects(clerk.collection('orders').aggregate([{ $lookup: { from: 'x', as: 'x', pipeline: [] } }, { $out: 'copy' }]).toArray(), denied);
    await assert.rejects(clerk.client.db('local').collection('oplog.rs').findOne(), denied);
    await assert.rejects(clerk.client.db('admin').aggregate([{ $listClusterCatalog: {} }]).toArray(), denied);
    await assert.rejects(clerk.client.db('admin').aggregate([{ $currentOp: { allUsers: true } }]).toArray(), denied);
    await assert.rejects(clerk.command({ explain: { delete: 'orders', deletes: [{ q: {}, limit: 0 }] } }), denied);
    await assert.rejects(clerk.command({ createUser: 'other', pwd: 'x', roles: [] }), denied);
    const { databases } = await clerk.client.db('admin').admin().listDatabases({ nameOnly: true });
    assert.deepEqual(databases, [{ name: 'shop' }]);
    await root.db('shop').command({ grantRolesToUser: 'clerk', roles: ['readWrite'] });
    await clerk.collection('orders').insertOne({ a: 2 });
    await root.db('shop').command({ revokeRolesFromUser: 'clerk', roles: ['readWrite'] });
    await assert.rejects(clerk.collection('orders').insertOne({ a: 3 }), denied);
    await root.db('shop').command({ dropUser: 'clerk' });
    await assert.rejects(clerk.collection('orders').findOne(), { code: 13, message: 'Command find requires authentication' });
  });
});

test('a role that was made gives its privileges and those of the roles in it', async () => {
  await guarded(async (_server, as) => {
    const root = await as('root', 'secret');
    const shop = root.db('shop');
    await shop.command({ createRole: 'counter', privileges: [{ resource: { db: 'shop', collection: 'stock' }, actions: ['find'] }], roles: [] });
    await shop.command({ createRole: 'keeper', privileges: [{ resource: { db: 'shop', collection: 'stock' }, actions: ['insert'] }], roles: ['counter'] });
    await shop.command({ createUser: 'k', pwd: 'pw', roles: ['keeper'] });
    const k = (await as('k', 'pw', { authSource: 'shop' })).db('shop');
    await k.collection('stock').insertOne({ a: 1 });
    assert.equal(await k.collection('stock').countDocuments(), 1);
    await assert.rejects(k.collection('other').findOne(), denied);
    await assert.rejects(shop.command({ grantRolesToRole: 'counter', roles: ['keeper'] }), { code: 49 });
    await assert.rejects(shop.command({ createRole: 'far', privileges: [{ resource: { cluster: true }, actions: ['shutdown'] }], roles: [] }), { code: 49 });
    await assert.rejects(shop.command({ createRole: 'odd', privileges: [{ resource: { db: 'shop', collection: '' }, actions: ['fly'] }], roles: [] }), { code: 9 });
    await assert.rejects(shop.command({ createRole: 'keeper', privileges: [], roles: [] }), { code: 51002 });
    await assert.rejects(shop.command({ createUser: 'x', pwd: 'pw', roles: ['none'] }), { code: 31, message: 'Could not find role: none@shop' });
    const info = await shop.command({ rolesInfo: 'keeper', showPrivileges: true });
    assert.deepEqual(info['roles'], [
      {
        _id: 'shop.keeper',
        role: 'keeper',
        db: 'shop',
        roles: [{ role: 'counter', db: 'shop' }],
        privileges: [{ resource: { db: 'shop', collection: 'stock' }, actions: ['insert'] }],
        inheritedRoles: [{ role: 'counter', db: 'shop' }],
        inheritedPrivileges: [{ resource: { db: 'shop', collection: 'stock' }, actions: ['find', 'insert'] }],
        isBuiltin: false,
      },
    ]);
    await shop.command({ dropRole: 'counter' });
    await assert.rejects(k.collection('stock').findOne(), denied);
  });
});

test('usersInfo tells roles and mechanisms, and credentials to nobody who does not ask', async () => {
  await guarded(async (_server, as) => {
    const root = await as('root', 'secret');
    const shop = root.db('shop');
    await shop.command({ createUser: 'c', pwd: 'pw', roles: [{ role: 'read', db: 'bank' }], customData: { desk: 7 }, mechanisms: ['SCRAM-SHA-256'] });
    const users = (await usersOf(shop, { usersInfo: 'c' })).map((user) => ({ ...user, userId: 'unique' }));
    assert.deepEqual(users, [{ _id: 'shop.c', userId: 'unique', user: 'c', db: 'shop', customData: { desk: 7 }, roles: [{ role: 'read', db: 'bank' }], mechanisms: ['SCRAM-SHA-256'] }]);
    assert.equal((await usersOf(shop, { usersInfo: { forAllDBs: true } })).length, 2);
    await assert.rejects(shop.command({ createUser: 'c', pwd: 'pw', roles: [] }), { code: 51003, message: 'User "c@shop" already exists' });
    await assert.rejects(shop.command({ dropUser: 'd' }), { code: 11, message: "User 'd@shop' not found" });
    await shop.command({ updateUser: 'c', pwd: 'new' });
    await assert.rejects(as('c', 'pw', { authSource: 'shop' }), { code: 18 });
    await as('c', 'new', { authSource: 'shop' });
    assert.deepEqual(await shop.command({ dropAllUsersFromDatabase: 1 }).then(({ n }) => Number(n)), 1);
  });
});

test('users are there after a restart, and what was refused is in the log', async () => {
  const first = await openServerForTest({ authorization: true });
  await (await first.driver()).db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] });
  await assert.rejects(first.driver({ auth: { username: 'root', password: 'wrong' } }), { code: 18 });
  const lines = first.log.recent().map((line) => JSON.parse(line) as { s: string; c: string; msg: string; attr: Record<string, unknown> });
  assert.ok(lines.some(({ msg, attr }) => msg === 'Users or roles changed' && attr['name'] === 'root@admin'));
  assert.ok(lines.some(({ s, c, attr }) => s === 'W' && c === 'ACCESS' && attr['result'] === 'wrong proof' && attr['user'] === 'root'));
  assert.ok(!first.log.recent().some((line) => line.includes('secret')));
  await first.close();
  const second = await openServerForTest({ env: first.env, authorization: true });
  const client = await second.driver({ auth: { username: 'root', password: 'secret' } });
  assert.equal((await usersOf(client.db('admin'), { usersInfo: 'root' })).length, 1);
  await second.close();
});

test('a cursor and a session are their user\'s alone', async () => {
  await guarded(async (_server, as) => {
    const root = await as('root', 'secret');
    await root.db('shop').collection('c').insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i as never })));
    await root.db('shop').command({ createUser: 'other', pwd: 'pw', roles: ['read'] });
    const other = await as('other', 'pw', { authSource: 'shop' });
    const found = (await root.db('shop').command({ find: 'c', batchSize: 2 })) as { cursor: { id: Long } };
    await assert.rejects(other.db('shop').command({ getMore: found.cursor.id, collection: 'c' }), denied);
    const killed = (await other.db('shop').command({ killCursors: 'c', cursors: [found.cursor.id] })) as { cursorsNotFound: unknown[] };
    assert.equal(killed.cursorsNotFound.length, 1);
  });
});
