import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Authorization, builtInRole, clusterTarget, databaseTarget, distinguishedName, namespaceTarget } from '../../src/auth/index.ts';

function having(role: string, db: string): Authorization {
  return new Authorization(builtInRole(role, db)?.privileges ?? []);
}

test('readWrite of a database reaches its collections, not its system collections, and no other database', () => {
  const shop = having('readWrite', 'shop');
  assert.ok(shop.allows(namespaceTarget('shop', 'orders'), 'insert'));
  assert.ok(shop.allows(databaseTarget('shop'), 'listCollections'));
  assert.ok(!shop.allows(namespaceTarget('shop', 'system.profile'), 'find'));
  assert.ok(!shop.allows(namespaceTarget('bank', 'orders'), 'find'));
  assert.ok(!shop.allows(databaseTarget('shop'), 'dropDatabase'));
  assert.ok(!shop.allows(clusterTarget, 'serverStatus'));
});

test('read never writes, anywhere', () => {
  const any = having('readAnyDatabase', 'admin');
  assert.ok(any.allows(namespaceTarget('x', 'y'), 'find'));
  for (const action of ['insert', 'update', 'remove', 'createIndex', 'dropCollection'] as const) assert.ok(!any.allows(namespaceTarget('x', 'y'), action), action);
  assert.ok(any.allows(clusterTarget, 'listDatabases'));
});

test('all databases means neither local nor config', () => {
  const any = having('readWriteAnyDatabase', 'admin');
  assert.ok(any.allows(namespaceTarget('admin', 'c'), 'find'));
  for (const db of ['local', 'config']) assert.ok(!any.allows(namespaceTarget(db, 'c'), 'find'), db);
  assert.ok(having('clusterMonitor', 'admin').allows(namespaceTarget('local', 'oplog.rs'), 'find'));
  assert.ok(having('root', 'admin').allows(namespaceTarget('local', 'oplog.rs'), 'find'));
});

test('userAdmin may give roles of its database and read nothing', () => {
  const admin = having('userAdmin', 'shop');
  assert.ok(admin.allows(databaseTarget('shop'), 'grantRole'));
  assert.ok(!admin.allows(databaseTarget('admin'), 'grantRole'));
  assert.ok(!admin.allows(namespaceTarget('shop', 'orders'), 'find'));
});

test('root does everything but what only the server does', () => {
  const root = having('root', 'admin');
  assert.ok(root.allows(namespaceTarget('x', 'y'), 'insert'));
  assert.ok(root.allows(clusterTarget, 'shutdown'));
  assert.ok(root.allows(namespaceTarget('admin', 'system.users'), 'find'));
  assert.ok(!root.allows(clusterTarget, 'internal'));
  assert.ok(having('__system', 'admin').allows(clusterTarget, 'internal'));
});

test('roles of the cluster are in admin only', () => {
  assert.equal(builtInRole('root', 'shop'), undefined);
  assert.equal(builtInRole('nothing', 'admin'), undefined);
});

test('the name of a certificate is written as RFC 2253 says', () => {
  assert.equal(distinguishedName([['C', 'DE'], ['O', 'Frond, Inc.'], ['CN', 'joe']]), String.raw`CN=joe,O=Frond\, Inc.,C=DE`);
  assert.equal(distinguishedName([['CN', ' #a"+<>;\\ ']]), String.raw`CN=\ #a\"\+\<\>\;\\\ `);
});
