// The n-th I/O of a script fails, for every n (law 25): nothing acknowledged is lost, nothing is there by half, and what can go on goes on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { failWrites, fillDisk, failReads, failOnce } from './nth-io.ts';
import type { Tally } from './nth-io.ts';

/** 1 takes every n; each test begins elsewhere, so that together they take them all. */
const stride = Number(process.env['FROND_NTH_STRIDE'] ?? '4');
let begins = 0;

/** Runs for n = 1, 2, … until a whole run had no n-th operation left. */
async function forEveryN(run: (n: number) => Promise<Tally>): Promise<number> {
  for (let n = 1 + (begins++ % stride); ; n += stride) {
    try {
      if ((await run(n)).failures === 0) return n;
    } catch (error) {
      throw new Error(`operation ${String(n)}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
}

for (const lasting of [false, true]) {
  const how = lasting ? 'and all later ones fail' : 'fails';
  void test(`the n-th write or sync ${how}: nothing more is acknowledged, and opening again recovers`, async (t) => {
    t.diagnostic(`${await forEveryN((n) => failWrites(openEnvironment, n, lasting))} operations`);
  });
  void test(`the n-th read ${how}: nothing is lost`, async (t) => {
    t.diagnostic(`${await forEveryN((n) => failReads(openEnvironment, n, lasting))} operations`);
  });
}

void test('the n-th write finds no space, though there is some: nothing is lost', async () => {
  await forEveryN((n) => failOnce(openEnvironment, n));
});

for (const operations of [4, Infinity]) {
  const how = operations === Infinity ? 'until there is more of it' : 'for a moment';
  void test(`the disk is full from the n-th I/O on, ${how}: commits are refused or done, deletes get through, and it goes on`, async (t) => {
    const n = await forEveryN((at) => fillDisk(openEnvironment, at, operations));
    t.diagnostic(`${n} operations`);
    assert.ok(n > 100);
  });
}
