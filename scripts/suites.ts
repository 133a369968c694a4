// `npm run suites -- COMMAND ...`: runs a suite that nobody here wrote against a fresh server of this checkout. `{uri}` in the command becomes the
// server's address, such as `npm run suites -- python3 smoke.py {uri}` or `npm run suites -- mongosh --quiet {uri} --file smoke.js`. The suites
// themselves are checked out elsewhere and never vendored. Ends with what the suite ended with, or 1 when the server did not live through it.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Server {
  readonly process: ChildProcess;
  readonly uri: string;
}

/** Starts a server on a free port and waits for its line. */
async function startServer(dataFolder: string): Promise<Server> {
  const parameters = [join(root, 'bin/frond'), 'serve', '--port', '0', '--gateway-port', '0', '--dbpath', dataFolder];
  const server = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: server.stdout })) {
    const uri = /mongodb:\/\/[^\s,]+/.exec(line)?.[0];
    if (uri !== undefined) return { process: server, uri };
  }
  throw new Error('the server ended before it was ready');
}

/** Most memory that the process had resident, where the kernel says it. */
function peakMegabytes(pid: number): string {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? 'unknown' : `${Math.round(Number(kilobytes) / 1024)} MB`;
  } catch {
    return 'unknown';
  }
}

/** Resolves with the status, the signal, or the reason for which it could not start, with which a process ends. */
async function endOf(child: ChildProcess): Promise<number | string> {
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return status ?? signal ?? 'unknown';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function run(command: readonly string[], dataFolder: string): Promise<number> {
  const server = await startServer(dataFolder);
  server.process.stdout?.resume();
  const serverEnd = endOf(server.process);
  const [program = 'true', ...parameters] = command.map((word) => word.replaceAll('{uri}', server.uri));
  const startedMs = performance.now();
  const suiteStatus = await endOf(spawn(program, parameters, { stdio: 'inherit' }));
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const peak = peakMegabytes(server.process.pid ?? 0);
  server.process.kill('SIGTERM');
  const serverStatus = await serverEnd;
  console.log(`suites: ${program} ended with ${suiteStatus} after ${seconds} s; server peak ${peak}, ended with ${serverStatus}`);
  return serverStatus === 0 && typeof suiteStatus === 'number' ? suiteStatus : 1;
}

const folder = mkdtempSync(join(tmpdir(), 'frond-suite-'));
try {
  process.exitCode = await run(process.argv.slice(2), folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
