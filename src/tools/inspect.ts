// `frond inspect`: what lies in a data directory, in words. The engine describes its own files; here only what is missing is said.

import { EngineError } from '../base/errors.ts';
import { inspectDirectory } from '../engine/index.ts';
import type { Env } from '../env/index.ts';

/** The description, line by line. `io` when there is no data, `locked` when a server has it open. */
export async function* inspectData(env: Env, path: string): AsyncGenerator<string> {
  if (!(await env.files.exists(`${path}/data.frond`))) throw new EngineError('io', `there is no FrondDB data in ${path}`);
  yield* inspectDirectory(env, path);
}
