// Client cursors that nobody asks for: after a minute they give up their snapshots, after ten they are closed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Document } from '../../src/bson/index.ts';
import { openMemoryEnv, type Clock } from '../../src/env/index.ts';
import { CursorRegistry, type BatchSource } from '../../src/session/index.ts';

/** A clock whose time is what the test says. */
function clockAt(clock: Clock, time: { ms: number }): Clock {
  return { ...clock, nowMs: () => time.ms, monotonicMs: () => time.ms, sleep: () => Promise.resolve() };
}

test('an idle cursor gives up its snapshot after a minute, and is closed after ten unless it was asked for', async () => {
  const env = await openMemoryEnv();
  const time = { ms: 0 };
  const cursors = new CursorRegistry(clockAt(env.clock, time), env.random);
  const seen: string[] = [];
  const source: BatchSource = {
    next: () => Promise.resolve([]),
    release: () => {
      seen.push('released');
    },
    close: () => {
      seen.push('closed');
    },
  };
  const cursor = cursors.create({ namespace: 'a.b', source, user: '', command: Document.empty });
  cursors.keep(cursor);
  time.ms = 59_000;
  cursors.sweep();
  assert.deepEqual(seen, []);
  time.ms = 61_000;
  cursors.sweep();
  assert.deepEqual(seen, ['released']);
  assert.equal(cursors.find(cursor.id), cursor);
  time.ms = 601_000;
  cursors.sweep();
  assert.deepEqual(seen.slice(-1), ['closed']);
  assert.ok(cursors.find(cursor.id) === undefined);
});
