// A process that takes a directory's lock: prints `got` or `locked PID`, and holds what it got until its input ends.

import { EngineError } from '../../src/base/errors.ts';
import { openHostEnv } from '../../src/env/index.ts';

const env = await openHostEnv();
try {
  const lock = await env.files.lockDirectory(process.argv[2] ?? '');
  process.stdout.write('got\n');
  process.stdin.resume();
  process.stdin.once('end', () => void lock.release());
} catch (error) {
  if (!(error instanceof EngineError) || error.code !== 'locked') throw error;
  process.stdout.write(`locked ${String(error.place.pid)}\n`);
}
