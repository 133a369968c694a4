// What scripts for single laws share: an environment on a simulated machine, and answers by code.

import assert from 'node:assert/strict';
import { EngineError } from '../../src/base/errors.ts';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { OpenEnvironment } from './history.ts';

/** One script; rejects when the law does not hold. */
export type Scenario = (open: OpenEnvironment) => Promise<void>;

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
export const MiB: number = 1024 * 1024;

/** An environment with one dictionary, closed at the end. */
export async function withEngine(open: OpenEnvironment, options: Partial<EngineOptions>, act: (engine: Environment, id: DictionaryId, sim: SimEnv) => Promise<void>): Promise<SimEnv> {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const engine = await open(sim, '/data', { cacheBytes: MiB, ...options });
    const first = engine.begin('statement');
    const id = first.createDictionary();
    await first.commit();
    await act(engine, id, sim);
    await engine.close();
  });
  return sim;
}

/** One put and its commit. */
export async function put(engine: Environment, id: DictionaryId, key: string, value: string | Uint8Array = 'v'): Promise<void> {
  const transaction = engine.begin('statement');
  await transaction.put(id, encode(key), typeof value === 'string' ? encode(value) : value);
  await transaction.commit();
}

/** The code of what `act` fails with. */
export async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
  return 'none';
}

export async function assertCode(act: () => unknown, code: string): Promise<void> {
  assert.equal(await codeOf(act), code);
}
