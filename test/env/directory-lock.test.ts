// The lock of a data directory between real processes: a live one always has it, a dead one never.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../../src/base/errors.ts';
import { openHostEnv } from '../../src/env/index.ts';

const { files } = await openHostEnv();
const script = fileURLToPath(new URL('lock-child.js', import.meta.url));

type Child = ChildProcessByStdio<Writable, Readable, null>;

function start(directory: string): Child {
  return spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function answer(child: Child): Promise<string> {
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return line.toString().trim();
}

async function end(child: Child, how: 'input' | 'kill'): Promise<void> {
  const over = once(child, 'exit');
  if (how === 'kill') child.kill('SIGKILL');
  else child.stdin.end();
  await over;
}

async function inDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'frond-lock-'));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function takeAndRelease(directory: string): Promise<void> {
  const lock = await files.lockDirectory(directory);
  await lock.release();
  assert.deepEqual(await readdir(directory), []);
}

async function refusedBy(directory: string, pid: number | undefined): Promise<void> {
  await assert.rejects(files.lockDirectory(directory), (error) => {
    assert.ok(error instanceof EngineError);
    assert.equal(error.code, 'locked');
    assert.equal(error.place.pid, pid);
    return true;
  });
}

/** The LOCK file of a holder that lives, changed. */
async function forgeLock(directory: string, change: Record<string, unknown>): Promise<void> {
  const path = join(directory, 'LOCK');
  const holder = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...holder, ...change }));
}

test('a directory that another process has open is refused with its pid, until it ends', async () => {
  await inDirectory(async (directory) => {
    const child = start(directory);
    assert.equal(await answer(child), 'got');
    await refusedBy(directory, child.pid);
    await end(child, 'input');
    await takeAndRelease(directory);
  });
});

test('the lock of a killed process stops nobody, not even at once', async () => {
  await inDirectory(async (directory) => {
    for (let round = 0; round < 3; round++) {
      const child = start(directory);
      assert.equal(await answer(child), 'got');
      child.kill('SIGKILL');
      const lock = await files.lockDirectory(directory).catch(async (error: unknown) => {
        // The signal may not have arrived when the lock was looked at; then the process was alive.
        assert.ok(error instanceof EngineError && error.code === 'locked');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
        return files.lockDirectory(directory);
      });
      await lock.release();
    }
    assert.deepEqual(await readdir(directory), []);
  });
});

test('of many processes that start on a dead lock exactly one gets it, and the others are told who', async () => {
  await inDirectory(async (directory) => {
    const dead = start(directory);
    assert.equal(await answer(dead), 'got');
    await end(dead, 'kill');
    const children = Array.from({ length: 5 }, () => start(directory));
    const answers = await Promise.all(children.map(answer));
    const winner = children[answers.indexOf('got')];
    assert.equal(answers.filter((line) => line === 'got').length, 1, answers.join());
    for (const line of answers) assert.ok(line === 'got' || line === `locked ${String(winner?.pid)}`, line);
    await Promise.all(children.map(async (child) => (child.exitCode === null ? end(child, 'input') : undefined)));
    await takeAndRelease(directory);
  });
});

test('a lock file that a power failure left empty or damaged stops nobody', async () => {
  for (const text of ['', '{"pid":1', '[]', '{"pid":"x","nonce":"0"}', '\0\0\0\0']) {
    await inDirectory(async (directory) => {
      await writeFile(join(directory, 'LOCK'), text);
      await takeAndRelease(directory);
    });
  }
});

test('a live process with the pid of a dead holder is not taken for it', async () => {
  await inDirectory(async (directory) => {
    const lock = await files.lockDirectory(directory);
    await forgeLock(directory, { startTime: '1', nonce: 'abc' });
    const again = await files.lockDirectory(directory);
    await again.release();
    await lock.release();
  });
});

test('a lock of an earlier boot of the machine stops nobody', async () => {
  await inDirectory(async (directory) => {
    const lock = await files.lockDirectory(directory);
    await forgeLock(directory, { bootId: 'another' });
    const second = await files.lockDirectory(directory);
    await second.release();
    await lock.release();
  });
});

test('a holder in another container is seen to live by its socket, and to be dead without', async () => {
  await inDirectory(async (directory) => {
    const lock = await files.lockDirectory(directory);
    await forgeLock(directory, { pidNamespace: 'pid:[1]', pid: 1 });
    await refusedBy(directory, 1);
    await lock.release();
    await takeAndRelease(directory);

    const child = start(directory);
    assert.equal(await answer(child), 'got');
    await forgeLock(directory, { pidNamespace: 'pid:[1]', pid: 1 });
    await refusedBy(directory, 1);
    await end(child, 'kill');
    await takeAndRelease(directory);
  });
});

test('a directory with a path longer than a socket name allows can be locked', async () => {
  await inDirectory(async (directory) => {
    const long = join(directory, 'x'.repeat(200));
    await files.makeDirectory(long);
    const lock = await files.lockDirectory(long);
    await refusedBy(long, process.pid);
    await lock.release();
    assert.deepEqual(await files.list(long), []);
  });
});

test('who only reads has a directory in which it cannot write, unless a live process has it', async () => {
  const root = process.getuid?.() === 0;
  await inDirectory(async (directory) => {
    const nobody = 65534;
    if (root) await chown(directory, nobody, nobody);
    const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'], ...(root ? { uid: nobody, gid: nobody } : {}) });
    assert.equal(await answer(child), 'got');
    await chmod(directory, 0o555);
    if (root) process.seteuid?.(nobody);
    try {
      await assert.rejects(files.lockDirectory(directory, 'reading'), (error: unknown) => error instanceof EngineError && error.code === 'locked' && error.place.pid === child.pid);
      await end(child, 'kill');
      await assert.rejects(files.lockDirectory(directory), { code: 'io' });
      await (await files.lockDirectory(directory, 'reading')).release();
    } finally {
      if (root) process.seteuid?.(0);
      await chmod(directory, 0o755);
    }
  });
});
