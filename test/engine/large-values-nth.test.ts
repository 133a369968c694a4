// The n-th I/O fails where most values are large ones: blob writes and syncs, segments that are made, moved and removed, checkpoints between them.

import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { withLargeValues } from './large-values.ts';
import { failOnce, failReads, failWrites, fillDisk } from './nth-io.ts';
import type { Tally } from './nth-io.ts';

/** 1 takes every n. */
const stride = Number(process.env['FROND_NTH_STRIDE'] ?? '29');
const open = withLargeValues(openEnvironment);

async function forEveryN(from: number, run: (n: number) => Promise<Tally>): Promise<void> {
  for (let n = from; ; n += stride) {
    try {
      if ((await run(n)).failures === 0) return;
    } catch (error) {
      throw new Error(`operation ${String(n)}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
}

void test('the n-th write or sync fails, once or lastingly: nothing more is acknowledged, and opening again recovers', async () => {
  await forEveryN(1, (n) => failWrites(open, n, n % 2 === 0));
});

void test('the n-th read fails: nothing is lost', async () => {
  await forEveryN(2, (n) => failReads(open, n, n % 2 === 0));
});

void test('the n-th write finds no space: nothing is lost', async () => {
  await forEveryN(3, (n) => failOnce(open, n));
});

void test('the disk is full from the n-th I/O on: commits are refused or done, deletes get through, and it goes on', async () => {
  // The marks of the script's commits go with removals, so they are small here too.
  await forEveryN(4, (n) => fillDisk(withLargeValues(openEnvironment, 100), n, n % 2 === 0 ? 4 : Infinity));
});
