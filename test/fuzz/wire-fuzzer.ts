// Hostile clients against a real server, with a bystander that must be served all the while: its answers stay right, the server lives, its memory
// stays bounded, and no answer to anybody carries the bystander's bytes (the twin of MongoBleed would).
//   node dist/test/fuzz/wire-fuzzer.js [seconds] [seed]

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { concatBytes } from '../../src/base/bytes.ts';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { ServerProcess } from '../crash/server-process.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { WireClient } from '../support/wire-client.ts';
import { hostileMessage } from './hostile-messages.ts';

const ATTACKERS = 3;
/** What only the bystander knows. */
const canary = 'canary-4f1d9c20-of-the-bystander';

/** What a run came to; times in milliseconds. */
export interface FuzzResult {
  readonly messages: number;
  readonly answered: number;
  readonly served: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Most resident memory of the server, in MB. */
  readonly peakMb: number;
  readonly faults: readonly string[];
}

class Fuzz {
  messages: number = 0;
  answered: number = 0;
  readonly waits: number[] = [];
  readonly faults: string[] = [];
  isOver: boolean = false;
  slowest: { ms: number; beside: string } = { ms: 0, beside: '' };
  #latest: string = '';
  readonly #server: ServerProcess;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  async bystander(): Promise<void> {
    const client = await WireClient.open(this.#server.port);
    await client.command('bystander', { insert: 'c', documents: BsonArray.of([Document.of({ _id: 1, secret: canary })]) });
    while (!this.isOver) {
      const begun = performance.now();
      const reply = await client.command('bystander', { find: 'c', filter: Document.of({ _id: 1 }) });
      const cursor = reply.get('cursor');
      const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
      if (!(batch instanceof BsonArray) || batch.items().length !== 1) this.faults.push('the bystander got a wrong answer');
      const ms = performance.now() - begun;
      this.waits.push(ms);
      if (ms > this.slowest.ms) this.slowest = { ms, beside: this.#latest };
      await sleep(3);
    }
    client.close();
  }

  async attacker(random: SimRandom): Promise<void> {
    while (!this.isOver) {
      const { kind, chunks, closesAtOnce } = hostileMessage(random);
      this.messages += 1;
      this.#latest = kind;
      const answer = await this.#exchange(chunks, closesAtOnce);
      if (answer.length > 0) this.answered += 1;
      if (new TextDecoder('latin1').decode(answer).includes(canary)) this.faults.push(`${kind}: the answer carries another client's bytes`);
    }
  }

  /** Sends and takes what comes until the server closes, answers, or says nothing for a while. */
  #exchange(chunks: readonly Uint8Array[], closesAtOnce: boolean): Promise<Uint8Array> {
    return new Promise((resolve) => {
      const got: Uint8Array[] = [];
      const socket = connect({ port: this.#server.port, host: '127.0.0.1' });
      const end = (): void => {
        socket.destroy();
        resolve(concatBytes(got));
      };
      socket.setTimeout(400, end);
      socket.on('error', end);
      socket.on('close', end);
      socket.on('data', (chunk: Uint8Array) => {
        got.push(chunk);
        end();
      });
      for (const chunk of chunks) socket.write(chunk);
      if (closesAtOnce) socket.end();
    });
  }
}

async function peakMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

/** Attacks a new server for so many seconds. */
export async function fuzzWire(seconds: number, seed: number): Promise<FuzzResult> {
  const dbPath = await mkdtemp(join(tmpdir(), 'frond-fuzz-'));
  const server = await ServerProcess.start(dbPath);
  const fuzz = new Fuzz(server);
  const random = new SimRandom(seed);
  const workers = [fuzz.bystander(), ...Array.from({ length: ATTACKERS }, (_, index) => fuzz.attacker(random.fork(`attacker ${String(index)}`)))];
  await sleep(seconds * 1000);
  fuzz.isOver = true;
  await Promise.all(workers);
  const memory = await peakMb(server.pid);
  if (server.exitCode !== undefined) fuzz.faults.push('the server ended');
  await server.stop();
  await rm(dbPath, { recursive: true });
  const sorted = fuzz.waits.toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  if (process.argv[1]?.endsWith('wire-fuzzer.js') === true) console.log(`the bystander waited longest (${String(Math.round(fuzz.slowest.ms))} ms) beside: ${fuzz.slowest.beside}`);
  return { messages: fuzz.messages, answered: fuzz.answered, served: sorted.length, p99Ms: at(0.99), maxMs: at(1), peakMb: memory, faults: fuzz.faults };
}

if (process.argv[1]?.endsWith('wire-fuzzer.js') === true) {
  const seconds = Number(process.argv[2] ?? 60);
  const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
  const result = await fuzzWire(seconds, seed);
  console.log(JSON.stringify({ seconds, seed, ...result }));
  process.exitCode = result.faults.length === 0 ? 0 : 1;
}
