// `frond bench gridfs`: does the chunk size of GridFS matter? Files of random bytes are stored with each chunk size, then read with each read size, and the
// time and the processor time of each are told, as a table and as bars. The experiment is one that an administrator made by hand with 50 files of 2 GB
// and chunks of 256 KiB to 8 MiB; it runs over storage of its own, or, with --mongo, over any server. Each size has its turn in every round, forward and
// back, after a round that does not count, so that neither what the program has not learned yet nor the machine's moods fall on one size; medians are told.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCatalog } from '../catalog/index.ts';
import { openEnvironment } from '../engine/index.ts';
import { openHostEnv } from '../env/index.ts';
import type { Env } from '../env/index.ts';
import { openFileStore, openRemoteStore, readBytes } from '../gridfs/index.ts';
import type { FileBucket, FileStore, StoredFile } from '../gridfs/index.ts';
import { readDirectoryWords } from './directory-words.ts';
import { parseBytes, parseWhole } from './option-table.ts';
import { FrondUsage } from './usage.ts';

const KiB = 1024;
const MB = 1_000_000;
const flags = ['files', 'size', 'chunks', 'reads', 'rounds', 'cache', 'mongo', 'db', 'dir'];
const chunksDefault = '256KB,512KB,1MB,2MB,4MB,8MB';
const readsDefault = '8KB,64KB,256KB,1MB';
/** Uploads come in pieces as a socket gives them. */
const pieceBytes = 64 * KiB;
/** Of each file, in the round that does not count. */
const warmBytes = 16 * MB;

interface Plan {
  readonly files: number;
  readonly fileBytes: number;
  readonly chunkSizes: readonly number[];
  readonly readSizes: readonly number[];
  readonly rounds: number;
  readonly cacheBytes: number;
}

/** What one step took. */
interface Figure {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
}

/** One round of a chunk size. */
interface Turn {
  readonly write: Figure;
  readonly reads: readonly Figure[];
}

interface Row {
  readonly chunkSize: number;
  readonly turns: Turn[];
}

/** Runs the experiment and prints it. */
export async function benchGridFs(words: readonly string[]): Promise<number> {
  const given = readDirectoryWords(words, flags);
  const plan = planOf(given);
  const env = await openHostEnv();
  const { store, db, settle, close } = await openBench(env, given, plan);
  const { files, fileBytes } = plan;
  console.log(`${files} files of ${sizeWords(fileBytes)} of random bytes, ${given.has('mongo') ? 'over the driver' : `cache ${sizeWords(plan.cacheBytes)}`}; processor time of this process only`);
  try {
    const bucket = store.bucket(db, 'frondbench');
    const rows = plan.chunkSizes.map((chunkSize): Row => ({ chunkSize, turns: [] }));
    for (const { chunkSize } of rows) await measure(env, bucket, { plan: { ...plan, fileBytes: Math.min(fileBytes, warmBytes) }, chunkSize, settle });
    for (let round = 0; round < plan.rounds; round++) {
      for (const { chunkSize, turns } of round % 2 === 0 ? rows : [...rows].reverse()) {
        const turn = await measure(env, bucket, { plan, chunkSize, settle });
        turns.push(turn);
        console.log(`round ${round + 1}, chunk size ${sizeWords(chunkSize)}: written ${rateWords(turn.write)}, read ${turn.reads.map((figure, i) => `${rateWords(figure)} by ${sizeWords(plan.readSizes[i] ?? 0)}`).join(', ')}`);
      }
    }
    console.log(`\n${report(plan, rows)}`);
    return 0;
  } finally {
    await close();
  }
}

function planOf(given: ReadonlyMap<string, string>): Plan {
  const sizes = (text: string, name: string): number[] => text.split(',').map((size) => parseBytes(size, name));
  const plan = {
    files: parseWhole(given.get('files') ?? '2', '--files', { low: 1, high: 1000 }),
    fileBytes: parseBytes(given.get('size') ?? '64MB', '--size'),
    chunkSizes: sizes(given.get('chunks') ?? chunksDefault, '--chunks'),
    readSizes: sizes(given.get('reads') ?? readsDefault, '--reads'),
    rounds: parseWhole(given.get('rounds') ?? '3', '--rounds', { low: 1, high: 100 }),
    cacheBytes: parseBytes(given.get('cache') ?? '256MB', '--cache'),
  };
  if (plan.fileBytes === 0 || plan.readSizes.includes(0)) throw new FrondUsage('files and reads have at least one byte');
  return plan;
}

interface OpenedBench {
  readonly store: FileStore;
  readonly db: string;
  /** Ends what goes on in the background of the storage. */
  readonly settle: () => Promise<void>;
  readonly close: () => Promise<void>;
}

async function openBench(env: Env, given: ReadonlyMap<string, string>, { cacheBytes }: Plan): Promise<OpenedBench> {
  const uri = given.get('mongo');
  const db = given.get('db') ?? 'test';
  if (uri !== undefined) {
    const store = await openRemoteStore(uri, env, { connectMs: 5000 });
    return { store, db, settle: () => Promise.resolve(), close: () => store.close() };
  }
  const directory = await mkdtemp(join(given.get('dir') ?? tmpdir(), 'frond-bench-'));
  const engine = await openEnvironment(env, directory, { cacheBytes });
  const store = await openFileStore(await openCatalog(engine, env), env);
  const close = async (): Promise<void> => {
    await store.close();
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { store, db, settle: () => engine.checkpoint(), close };
}

interface Step {
  readonly plan: Plan;
  readonly chunkSize: number;
  readonly settle: () => Promise<void>;
}

async function measure(env: Env, bucket: FileBucket, { plan, chunkSize, settle }: Step): Promise<Turn> {
  const bytes = plan.files * plan.fileBytes;
  const random = env.random.bytes(Math.min(plan.fileBytes, 8 * MB));
  const stored: StoredFile[] = [];
  const write = await timed(env, bytes, async () => {
    for (let i = 0; i < plan.files; i++) stored.push(await store(bucket, plan.fileBytes, { chunkSize, random }));
    await settle();
  });
  const reads: Figure[] = [];
  for (const readSize of plan.readSizes) {
    reads.push(await timed(env, bytes, async () => {
      for (const file of stored) await read(bucket, file, readSize);
    }));
  }
  for (const { id } of stored) await bucket.remove(id);
  return { write, reads };
}

async function timed(env: Env, bytes: number, work: () => Promise<void>): Promise<Figure> {
  const [startedMs, cpu] = [env.clock.monotonicMs(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (env.clock.monotonicMs() - startedMs) / 1000, cpuSeconds: (user + system) / 1e6, bytes };
}

async function store(bucket: FileBucket, length: number, { chunkSize, random }: { readonly chunkSize: number; readonly random: Uint8Array }): Promise<StoredFile> {
  const upload = await bucket.create({ filename: 'bench', contentType: undefined, metadata: new Map(), chunkSize, onlyIfAbsent: false });
  for (let sent = 0; sent < length; ) {
    const from = sent % random.length;
    const piece = random.subarray(from, from + Math.min(pieceBytes, length - sent));
    await upload.write(piece);
    sent += piece.length;
  }
  return await upload.finish();
}

/** Reads all of a file by windows, and takes it as a program does that asks for `readSize` bytes again and again. */
async function read(bucket: FileBucket, file: StoredFile, readSize: number): Promise<void> {
  const reader = bucket.open(file);
  const target = new Uint8Array(readSize);
  let total = 0;
  await readBytes(reader, 0, file.length - 1, (bytes) => {
    for (let at = 0; at < bytes.length; at += readSize) target.set(bytes.subarray(at, at + readSize));
    total += bytes.length;
  });
  if (total !== file.length) throw new FrondUsage(`the file has ${file.length} bytes, and ${total} were read`);
}

const sizeWords = (bytes: number): string => (bytes >= KiB * KiB ? `${Math.round((10 * bytes) / KiB / KiB) / 10} MiB` : `${Math.round(bytes / KiB)} KiB`);
const rate = ({ bytes, seconds }: Figure): number => bytes / MB / Math.max(1e-9, seconds);
const perCpu = ({ bytes, cpuSeconds }: Figure): number => bytes / MB / Math.max(1e-9, cpuSeconds);
const rateWords = (figure: Figure): string => `${Math.round(rate(figure))} MB/s (${Math.round(perCpu(figure))} MB per CPU-s)`;

/** The table, the bars, and how flat they are. */
function report({ readSizes }: Plan, rows: readonly Row[]): string {
  const columns: readonly (readonly [title: string, pick: (turn: Turn) => Figure])[] = [
    ['write', ({ write }) => write],
    ...readSizes.map((size, i): [string, (turn: Turn) => Figure] => [`read ${sizeWords(size)}`, ({ reads, write }) => reads[i] ?? write]),
  ];
  const of = ({ turns }: Row, pick: (turn: Turn) => Figure, measure: (figure: Figure) => number): number => median(turns.map((turn) => measure(pick(turn))));
  const head = ['chunk size', ...columns.map(([title]) => title)];
  const lines = rows.map((row) => [sizeWords(row.chunkSize), ...columns.map(([, pick]) => `${Math.round(of(row, pick, rate))} / ${Math.round(of(row, pick, perCpu))}`)]);
  const flat = ['most / least', ...columns.map(([, pick]) => spread(rows.map((row) => of(row, pick, perCpu))))];
  const charts = columns.map(([title, pick]) => chart(`${title}, MB per CPU-second`, rows.map((row) => [sizeWords(row.chunkSize), of(row, pick, perCpu)])));
  return `MB/s / MB per CPU-second, medians\n${table([head, ...lines, flat])}\n\n${charts.join('\n\n')}`;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const spread = (values: readonly number[]): string => `${(Math.max(...values) / Math.min(...values)).toFixed(2)}x`;

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')).join('\n');
}

const barWidth = 50;

function chart(title: string, bars: readonly (readonly [name: string, value: number])[]): string {
  const most = Math.max(...bars.map(([, value]) => value), 1e-9);
  return [title, ...bars.map(([name, value]) => `${name.padStart(8)} ${'█'.repeat(Math.max(1, Math.round((barWidth * value) / most)))} ${Math.round(value)}`)].join('\n');
}
