// `frond serve` as a person starts it: the built command in a process of its own, on a fresh data directory and free ports.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/bin/frond.js', import.meta.url));

/** A running server and where to find it. */
export class ServedFrond {
  readonly mongoUri: string;
  readonly httpUrl: string;
  readonly #child: ChildProcess;
  readonly #directory: string;

  constructor(child: ChildProcess, directory: string, ready: string) {
    this.#child = child;
    this.#directory = directory;
    this.mongoUri = /mongodb:\/\/[^\s,]+/.exec(ready)?.[0] ?? '';
    this.httpUrl = /http:\/\/\S+/.exec(ready)?.[0] ?? '';
  }

  static async start(): Promise<ServedFrond> {
    const directory = await mkdtemp(join(tmpdir(), 'frond-browser-'));
    const child = spawn(process.execPath, [program, 'serve', '--dbpath', directory, '--port', '0', '--gateway-port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const ready = new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (bytes: Buffer) => {
        said += bytes.toString();
      });
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        const line = /^listening on .*$/m.exec(said)?.[0];
        if (line !== undefined && said.includes('\n')) resolve(line);
      });
      child.once('exit', (status) => reject(new Error(`frond serve ended with ${String(status)}: ${said}`)));
    });
    return new ServedFrond(child, directory, await ready);
  }

  /** Stops it as an administrator would; the status it ended with. */
  async stop(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.kill('SIGTERM');
    const status = await ended;
    await rm(this.#directory, { recursive: true, force: true });
    return status;
  }
}
