// What only the real environment can show: the system's errors by their codes, descriptors, timers, facts.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { cgroupLimitFiles } from '../../src/env/host.ts';
import { openHostEnv, openMemoryEnv } from '../../src/env/index.ts';

const env = await openHostEnv();

test('a full device is no-space, with file and offset', async () => {
  const file = await env.files.open('/dev/full', 'write');
  await assert.rejects(file.write(new Uint8Array(100), 4096), (error) => {
    assert.ok(error instanceof EngineError);
    assert.equal(error.code, 'no-space');
    assert.deepEqual(error.place, { file: '/dev/full', offset: 4096 });
    assert.ok(error.cause instanceof Error);
    return true;
  });
  await file.close();
});

test('close waits for the operations that are outstanding', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'frond-close-'));
  const file = await env.files.open(join(directory, 'a'), 'create');
  const writes = Array.from({ length: 20 }, async (_, index) => file.write(new Uint8Array(1000).fill(index + 1), index * 1000));
  await file.close();
  await Promise.all(writes);
  const content = await env.files.readAll(join(directory, 'a'));
  assert.equal(content.length, 20_000);
  assert.ok(content.every((byte, index) => byte === Math.floor(index / 1000) + 1));
  await rm(directory, { recursive: true });
});

test('a sleep ends when its signal is aborted, before or during it', async () => {
  const controller = new AbortController();
  const sleeping = env.clock.sleep(3_600_000, controller.signal);
  controller.abort();
  await sleeping;
  await env.clock.sleep(3_600_000, controller.signal);
});

test('background work goes on slice by slice until it is done, and other work gets its turn', async () => {
  const order: string[] = [];
  let slices = 3;
  const work = env.tasks.background((budgetMs) => {
    assert.ok(budgetMs > 0 && budgetMs <= 5);
    order.push('slice');
    return --slices === 0 ? 'done' : 'more';
  });
  const other = (async () => {
    for (let turn = 0; turn < 2; turn++) {
      await env.tasks.pause();
      order.push('other');
    }
  })();
  await Promise.all([work, other]);
  assert.deepEqual(order.filter((name) => name === 'slice').length, 3);
  assert.notDeepEqual(order.slice(0, 3), ['slice', 'slice', 'slice']);
});

test('background work that throws rejects and is not called again', async () => {
  let calls = 0;
  const work = env.tasks.background(() => {
    calls++;
    throw new EngineError('io', 'broken');
  });
  await assert.rejects(work, EngineError);
  await env.tasks.pause();
  assert.equal(calls, 1);
});

test('random bytes are fresh each time, small and large, and uint32 covers its range', () => {
  for (const length of [12, 5000]) {
    const drawn = Array.from({ length: 500 }, () => env.random.bytes(length));
    assert.ok(drawn.every((bytes) => bytes.length === length));
    assert.equal(new Set(drawn.map((bytes) => bytes.join())).size, 500);
  }
  const numbers = Array.from({ length: 4000 }, () => env.random.uint32());
  assert.ok(numbers.every((number) => Number.isInteger(number) && number >= 0 && number < 2 ** 32));
  assert.ok(numbers.some((number) => number >= 2 ** 31) && numbers.some((number) => number < 2 ** 31));
});

test('the host says what this process may use', () => {
  const { host } = env;
  assert.equal(host.pid, process.pid);
  assert.ok(host.cpus >= 1);
  assert.ok(host.memoryLimitBytes > 0 && host.memoryLimitBytes <= host.memoryBytes);
  assert.ok(host.residentBytes() > 1e6 && host.residentBytes() < host.memoryBytes);
  assert.ok(host.cpuMs().user > 0);
});

test('the clock goes forward', () => {
  const first = env.clock.monotonicMs();
  assert.ok(env.clock.monotonicMs() >= first);
  assert.ok(Math.abs(env.clock.nowMs() - Date.now()) < 1000);
});

test('each memory environment has files of its own', async () => {
  const [first, second] = [await openMemoryEnv(), await openMemoryEnv()];
  await first.files.writeWhole('/a', new Uint8Array(3));
  assert.equal(await second.files.exists('/a'), false);
  const { freeBytes, totalBytes } = await first.files.space('/');
  await first.files.writeWhole('/b', new Uint8Array(1_000_000));
  const later = await first.files.space('/');
  assert.ok(later.freeBytes <= freeBytes - 1_000_000);
  assert.equal(later.totalBytes, totalBytes);
});

test('memory limits are looked for in the groups of the process and all above, in both versions of cgroups', () => {
  assert.deepEqual(cgroupLimitFiles('0::/system.slice/frond.service\n'), [
    '/sys/fs/cgroup/system.slice/frond.service/memory.max',
    '/sys/fs/cgroup/system.slice/memory.max',
    '/sys/fs/cgroup/memory.max',
  ]);
  assert.deepEqual(cgroupLimitFiles('5:cpu,cpuacct:/a\n3:memory:/docker/x\n1:name=systemd:/init\n'), [
    '/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes',
    '/sys/fs/cgroup/memory/docker/memory.limit_in_bytes',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
  ]);
  assert.deepEqual(cgroupLimitFiles(''), []);
});
