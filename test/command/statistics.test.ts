// What `dbStats` tells of the disk (manual: "dbStats"): all of the file system that the data is on, not the database alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServerForTest } from '../support/open-server-for-test.ts';

test('dbStats tells how large the file system is, and how much of it is used, by whomever', async () => {
  const server = await openServerForTest();
  try {
    const client = await server.driver();
    const inBytes = await client.db('small').stats();
    const { fsUsedSize, fsTotalSize, storageSize } = await client.db('small').stats({ scale: 1024 });
    assert.equal(fsTotalSize, inBytes['fsTotalSize'] / 1024);
    assert.equal(storageSize, 0);
    assert.ok(fsUsedSize > 0 && fsUsedSize < fsTotalSize, `${fsUsedSize} of ${fsTotalSize}`);
  } finally {
    await server.close();
  }
});
