// Scripts for updates, messages that change a value without a read (laws 11 and 13).

import assert from 'node:assert/strict';
import type { UpdateTable } from '../../src/engine/index.ts';
import { testFunctions, updateTable } from '../support/update-functions.ts';
import type { OpenEnvironment } from './history.ts';
import { assertCode, encode, put, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const key = encode('key');
const one = Uint8Array.of(1, 0, 0, 0);

/** The functions of the tests, counting how often one is applied. */
function countingTable(counts: { applied: number }): UpdateTable {
  const functions = [...updateTable.functions].map(([number, { apply, takes }]) => [number, {
    takes,
    apply: (value: Uint8Array | undefined, argument: Uint8Array): Uint8Array | undefined => {
      counts.applied += 1;
      return apply(value, argument);
    },
  }] as const);
  return { functions: new Map(functions) };
}

/** Law 13: a function that is not known, or an argument that it does not take, is refused before anything is written. */
async function refusedUpdates(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { updates: updateTable }, async (engine, id) => {
    const transaction = engine.begin('statement');
    await assertCode(() => transaction.update(id, key, 2, one), 'format');
    await assertCode(() => transaction.update(id, key, testFunctions.add, Uint8Array.of(1)), 'format');
    assert.equal(await transaction.get(id, key), undefined);
    await transaction.commit();
  });
}

/** Law 13: who opens the files without the functions is told so, whether the updates are in the log or in the tree; with them all is there. */
async function unknownFunctions(open: OpenEnvironment): Promise<void> {
  for (const place of ['log', 'tree']) {
    const options = { updates: updateTable, frontBytes: 1000, bufferBytes: 1e6, dictionary: { compression: 'none', pageBytes: 1024, readPageBytes: 512, fanout: 4 } } as const;
    const sim = await withEngine(open, options, async (engine, id) => {
      for (let i = 0; i < 300; i++) await put(engine, id, `row ${String(i)}`, new Uint8Array(30));
      for (let i = 0; i < 60; i++) {
        const transaction = engine.begin('statement');
        await transaction.update(id, encode(`row ${String(i)}`), testFunctions.append, one);
        await transaction.commit();
      }
      if (place === 'tree') for (let i = 0; i < 60; i++) await put(engine, id, `other ${String(i)}`, new Uint8Array(30));
      if (place === 'log') {
        const transaction = engine.begin('statement');
        await transaction.update(id, key, testFunctions.add, one);
        await transaction.commit();
      }
    });
    await sim.run(async () => {
      const row = encode('row 7');
      await assertCode(async () => {
        const engine = await open(sim, '/data', { ...options, updates: { functions: new Map() } });
        const read = engine.begin('read');
        try {
          for (let i = 0; i < 60; i++) await read.get(2 as Parameters<typeof read.get>[0], encode(`row ${String(i)}`));
        } finally {
          read.abort();
          await engine.close().catch(() => undefined);
        }
      }, 'format');
      const engine = await open(sim, '/data', options);
      const read = engine.begin('read');
      assert.deepEqual(await read.get(2 as Parameters<typeof read.get>[0], row), Uint8Array.from([...new Uint8Array(16), ...one]));
      read.abort();
      await engine.close();
    });
  }
}

/** What is changed very often is no long chain for a reader, whether its base is near, far, large or absent. */
async function boundedChains(open: OpenEnvironment): Promise<void> {
  const counts = { applied: 0 };
  await withEngine(open, { updates: countingTable(counts), frontBytes: 1e6 }, async (engine, id, sim) => {
    await put(engine, id, 'far', Uint8Array.of(0, 0, 0, 0));
    for (let i = 0; i < 20_000; i += 100) await put(engine, id, `row ${String(i)}`, new Uint8Array(2000));
    await engine.checkpoint();
    await sim.clock.sleep(60_000);
    for (const name of ['far', 'absent']) {
      for (let i = 0; i < 500; i++) {
        const transaction = engine.begin('statement');
        await transaction.update(id, encode(name), testFunctions.add, one);
        await transaction.commit();
      }
      counts.applied = 0;
      const read = engine.begin('read');
      assert.deepEqual(await read.get(id, encode(name)), Uint8Array.of(244, 1, 0, 0));
      assert.ok(counts.applied <= 64, `${String(counts.applied)} updates for one read`);
      read.abort();
    }
    const many = engine.begin('statement');
    for (let i = 0; i < 500; i++) await many.update(id, encode('in one'), testFunctions.add, one);
    counts.applied = 0;
    assert.deepEqual(await many.get(id, encode('in one')), Uint8Array.of(244, 1, 0, 0));
    assert.ok(counts.applied <= 64, `${String(counts.applied)} updates for one read of one's own`);
    await many.commit();
  });
}

export const updateScenarios: Readonly<Record<string, Scenario>> = {
  'an unknown function and a wrong argument are refused before the commit': refusedUpdates,
  'files with updates are refused by who does not know their functions': unknownFunctions,
  'what is changed often is no long chain': boundedChains,
};
