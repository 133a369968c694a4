// The contract of FileSystem (src/env/file-system.ts), run against every implementation. What a crash takes is the simulator's own test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import type { EngineErrorCode } from '../../src/base/errors.ts';
import type { FileSystem } from '../../src/env/index.ts';

/** A test of the contract: an empty directory `root` of a file system. */
type Scenario = (files: FileSystem, root: string) => Promise<void>;

/** Runs a scenario in an implementation, in a fresh directory, and cleans up. */
export type ScenarioRunner = (scenario: Scenario) => Promise<void>;

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

function pattern(length: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + seed * 17 + (index >>> 8)) & 0xff);
}

async function rejectsWith(code: EngineErrorCode, operation: Promise<unknown>): Promise<EngineError> {
  let found: EngineError | undefined;
  await assert.rejects(operation, (error) => {
    assert.ok(error instanceof EngineError, String(error));
    assert.equal(error.code, code);
    found = error;
    return true;
  });
  return found as EngineError;
}

const opening: Record<string, Scenario> = {
  'reading a file that does not exist is an io error that names it': async (files, root) => {
    const error = await rejectsWith('io', files.open(`${root}/missing`, 'read'));
    assert.equal(error.place.file, `${root}/missing`);
    assert.equal(await files.exists(`${root}/missing`), false);
  },
  'create makes a new file and refuses one that exists': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    await file.close();
    assert.equal(await files.exists(`${root}/a`), true);
    await rejectsWith('io', files.open(`${root}/a`, 'create'));
  },
  'write opens a file that exists without changing it': async (files, root) => {
    await files.writeWhole(`${root}/a`, text('hello'));
    const file = await files.open(`${root}/a`, 'write');
    assert.equal(await file.size(), 5);
    await file.close();
  },
  'a file in a directory that does not exist cannot be made': async (files, root) => {
    await rejectsWith('io', files.open(`${root}/no/a`, 'create'));
    await rejectsWith('io', files.open(`${root}/no/a`, 'write'));
  },
  'a file opened for reading refuses writes': async (files, root) => {
    await files.writeWhole(`${root}/a`, text('hello'));
    const file = await files.open(`${root}/a`, 'read');
    await rejectsWith('io', file.write(text('x'), 0));
    await rejectsWith('io', file.writev([text('x')], 0));
    await file.close();
    assert.deepEqual(await files.readAll(`${root}/a`), text('hello'));
  },
  'a directory cannot be opened as a file for writing': async (files, root) => {
    await rejectsWith('io', files.open(root, 'write'));
  },
  'a closed file refuses everything, and closing again is allowed': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    await file.close();
    await file.close();
    await rejectsWith('closed', file.read(new Uint8Array(1), 0));
    await rejectsWith('closed', file.write(text('x'), 0));
    await rejectsWith('closed', file.sync());
    await rejectsWith('closed', file.size());
    await rejectsWith('closed', file.truncate(0));
  },
};

const content: Record<string, Scenario> = {
  'what is written is read back, at any offset and length': async (files, root) => {
    const whole = pattern(200_000);
    const file = await files.open(`${root}/a`, 'create');
    await file.write(whole.subarray(100_000), 100_000);
    await file.write(whole.subarray(0, 100_000), 0);
    for (const [offset, length] of [[0, 200_000], [1, 4096], [4095, 2], [99_999, 70_001], [16_383, 16_386]] as const) {
      const target = new Uint8Array(length);
      assert.equal(await file.read(target, offset), length);
      assert.deepEqual(target, whole.subarray(offset, offset + length));
    }
    await file.close();
  },
  'a read stops at the end of the file and leaves the rest of the target alone': async (files, root) => {
    await files.writeWhole(`${root}/a`, text('hello'));
    const file = await files.open(`${root}/a`, 'read');
    const target = new Uint8Array(10).fill(7);
    assert.equal(await file.read(target, 3), 2);
    assert.deepEqual(target, Uint8Array.of(0x6c, 0x6f, 7, 7, 7, 7, 7, 7, 7, 7));
    assert.equal(await file.read(target, 5), 0);
    assert.equal(await file.read(target, 500), 0);
    await file.close();
  },
  'a write beyond the end fills the gap with zeros': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    await file.write(text('x'), 20_000);
    assert.equal(await file.size(), 20_001);
    const target = new Uint8Array(20_001).fill(1);
    assert.equal(await file.read(target, 0), 20_001);
    assert.ok(target.subarray(0, 20_000).every((byte) => byte === 0));
    await file.close();
  },
  'a gathered write puts its sources one after the other, empty and many ones too': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    const sources = Array.from({ length: 3000 }, (_, index) => pattern(index % 5, index));
    await file.writev(sources, 10);
    const expected = new Uint8Array([...new Uint8Array(10), ...sources.flatMap((source) => [...source])]);
    assert.deepEqual(await files.readAll(`${root}/a`), expected);
    await file.close();
  },
  'truncate cuts and extends, and what it extends by is zero': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    await file.write(pattern(10_000), 0);
    await file.truncate(5000);
    assert.equal(await file.size(), 5000);
    await file.truncate(10_000);
    const target = new Uint8Array(10_000);
    assert.equal(await file.read(target, 0), 10_000);
    assert.deepEqual(target.subarray(0, 5000), pattern(10_000).subarray(0, 5000));
    assert.ok(target.subarray(5000).every((byte) => byte === 0));
    await file.close();
  },
  'many operations may be outstanding at once': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    const pieces = Array.from({ length: 50 }, (_, index) => pattern(1000, index));
    await Promise.all(pieces.map(async (piece, index) => file.write(piece, index * 1000)));
    await file.sync();
    const targets = await Promise.all(
      pieces.map(async (_, index) => {
        const target = new Uint8Array(1000);
        await file.read(target, index * 1000);
        return target;
      }),
    );
    assert.deepEqual(targets, pieces);
    await file.close();
  },
  'two handles of one file see the same content': async (files, root) => {
    const first = await files.open(`${root}/a`, 'create');
    const second = await files.open(`${root}/a`, 'write');
    await first.write(text('hello'), 0);
    const target = new Uint8Array(5);
    await second.read(target, 0);
    assert.deepEqual(target, text('hello'));
    await first.close();
    await second.close();
  },
  'a file with durable writes is written and read as any other': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create', { durableWrites: true });
    await file.write(pattern(5000), 0);
    await file.writev([pattern(10), pattern(20)], 5000);
    await file.close();
    assert.equal((await files.readAll(`${root}/a`)).length, 5030);
  },
};

const names: Record<string, Scenario> = {
  'directories are made with their parents, and again without harm': async (files, root) => {
    await files.makeDirectory(`${root}/x/y/z`);
    await files.makeDirectory(`${root}/x/y/z`);
    assert.deepEqual(await files.list(`${root}/x`), ['y']);
    await files.syncDirectory(`${root}/x/y`);
  },
  'list gives the names in order, directories included': async (files, root) => {
    await files.writeWhole(`${root}/b`, text(''));
    await files.writeWhole(`${root}/a`, text(''));
    await files.makeDirectory(`${root}/c`);
    assert.deepEqual(await files.list(root), ['a', 'b', 'c']);
    assert.equal(await files.exists(`${root}/c`), true);
  },
  'what is missing can be neither listed, removed, renamed nor synced': async (files, root) => {
    await rejectsWith('io', files.list(`${root}/no`));
    await rejectsWith('io', files.remove(`${root}/no`));
    await rejectsWith('io', files.rename(`${root}/no`, `${root}/yes`));
    await rejectsWith('io', files.syncDirectory(`${root}/no`));
    await rejectsWith('io', files.readAll(`${root}/no`));
  },
  'a removed file is gone; a directory goes only when it is empty': async (files, root) => {
    await files.makeDirectory(`${root}/d`);
    await files.writeWhole(`${root}/d/a`, text('x'));
    await rejectsWith('io', files.remove(`${root}/d`));
    await files.remove(`${root}/d/a`);
    await files.remove(`${root}/d`);
    assert.deepEqual(await files.list(root), []);
  },
  'a file that was removed can still be used by who has it open': async (files, root) => {
    const file = await files.open(`${root}/a`, 'create');
    await file.write(text('hello'), 0);
    await files.remove(`${root}/a`);
    const target = new Uint8Array(5);
    assert.equal(await file.read(target, 0), 5);
    await file.close();
  },
  'rename moves a file and replaces its target': async (files, root) => {
    await files.writeWhole(`${root}/a`, text('new'));
    await files.writeWhole(`${root}/b`, text('old'));
    await files.rename(`${root}/a`, `${root}/b`);
    assert.deepEqual(await files.list(root), ['b']);
    assert.deepEqual(await files.readAll(`${root}/b`), text('new'));
  },
  'writeWhole replaces the content and leaves nothing else': async (files, root) => {
    await files.writeWhole(`${root}/a`, pattern(10_000));
    await files.writeWhole(`${root}/a`, text('short'));
    assert.deepEqual(await files.readAll(`${root}/a`), text('short'));
    assert.deepEqual(await files.list(root), ['a']);
  },
  'there is room, and no more of it than the disk has': async (files, root) => {
    const { freeBytes, totalBytes } = await files.space(root);
    assert.ok(freeBytes > 0 && freeBytes <= totalBytes);
    await rejectsWith('io', files.space(`${root}/no`));
  },
};

const locks: Record<string, Scenario> = {
  'a locked directory is refused to a second opener until it is released': async (files, root) => {
    const lock = await files.lockDirectory(root);
    const error = await rejectsWith('locked', files.lockDirectory(root));
    assert.ok(Number(error.place.pid) > 0);
    await lock.release();
    await (await files.lockDirectory(root)).release();
  },
  'of many that ask at once one has the lock': async (files, root) => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, async () => files.lockDirectory(root)));
    const granted = results.filter((result) => result.status === 'fulfilled');
    assert.equal(granted.length, 1);
    await granted[0]?.value.release();
    assert.deepEqual((await files.list(root)).filter((name) => !name.startsWith('LOCK')), []);
  },
  'a directory that does not exist cannot be locked': async (files, root) => {
    await rejectsWith('io', files.lockDirectory(`${root}/no`));
  },
};

/** Registers the suite for one implementation. */
export function fileSystemContract(name: string, run: ScenarioRunner): void {
  for (const [behaviour, scenario] of Object.entries({ ...opening, ...content, ...names, ...locks }))
    test(`${name}: ${behaviour}`, async () => run(scenario));
}
