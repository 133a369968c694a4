// A server in a process of its own, to be killed.

import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/bin/frond.js', import.meta.url));

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly port: number;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, port: number, ended: Promise<void>) {
    this.#child = child;
    this.port = port;
    this.#ended = ended;
  }

  /** Starts a server over a directory; resolves when it says that it listens. */
  static start(dbPath: string): Promise<ServerProcess> {
    const words = [program, 'serve', '--dbpath', dbPath, '--port', '0', '--gateway', 'false', '--cache', '32MB', '--checkpoint-period', '200'];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => {
        resolve();
      });
    });
    let text = '';
    return new Promise((resolve, reject) => {
      const read = (chunk: Uint8Array): void => {
        text += new TextDecoder().decode(chunk);
        const port = /listening on mongodb:\/\/[^:]+:(\d+)/.exec(text)?.[1];
        if (port !== undefined) resolve(new ServerProcess(child, Number(port), ended));
      };
      child.stdout.on('data', read);
      child.stderr.on('data', (chunk: Uint8Array) => {
        read(chunk);
        if (text.includes('internal error')) reject(new Error(`the server has a bug:\n${text}`));
      });
      void ended.then(() => {
        reject(new Error(`the server ended before it listened:\n${text}`));
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The status that it ended with; undefined while it runs. */
  get exitCode(): number | undefined {
    return this.#child.exitCode ?? undefined;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** A clean stop. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }
}
