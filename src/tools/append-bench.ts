// `frond bench append`: what a durable append costs on this disk, for each way in which the log can write (engine/wal/log-writer.ts), at the
// sizes of the seed and around every boundary of 4 KiB blocks and buffers. The same writers as in the log, on files of their own.

import { LogWriter, logWriters } from '../engine/index.ts';
import type { LogWriterName } from '../engine/index.ts';
import type { Env, File } from '../env/index.ts';

/** What is measured where. */
export interface AppendBench {
  /** Directory for the files; they are removed afterwards. */
  readonly directory: string;
  /** Writes of each size by each writer. */
  readonly count: number;
  readonly sizes: readonly number[];
}

/** The seed's sizes, and one byte beside every boundary. */
export const appendSizes: readonly number[] = [100, 4095, 4096, 4097, 8185, 8186, 8191, 8192, 8193, 16_383, 16_385, 32_768, 65_535, 65_536, 65_537];

const unit = 4096;
const barMax = 50;
const zeros = new Uint8Array(1024 * 1024);

interface Figure {
  readonly size: number;
  readonly medianUs: number;
  readonly p99Us: number;
}

/** One row of the bench: a writer that is durable by itself, or one whose sync comes later. */
interface Contender {
  readonly name: string;
  readonly writer: LogWriterName;
  readonly isDurable: boolean;
  /** Records that share a write; the figures are a record's. */
  readonly gathered: number;
}

const gatheringWriters: readonly LogWriterName[] = ['overwrite-dsync', 'overwrite-fdatasync', 'append-dsync', 'append-fdatasync', 'append-fsync'];

const contenders: readonly Contender[] = [
  // A writer that does not gather differs in nothing that one record after the other could show.
  ...gatheringWriters.map((name) => ({ name, writer: name, isDurable: true, gathered: 1 })),
  { name: 'overwrite-dsync, 16 records a write', writer: 'overwrite-dsync', isDurable: true, gathered: 16 },
  { name: 'delayed (no sync)', writer: 'overwrite-dsync', isDurable: false, gathered: 1 },
];

/** The report, line by line: a table, the curve of each writer, and which was quickest. */
export async function* benchAppend(env: Env, bench: AppendBench): AsyncGenerator<string> {
  yield `microseconds a record, median / p99 of ${bench.count} writes one after the other`;
  yield `${'writer'.padEnd(36)}${bench.sizes.map((size) => String(size).padStart(14)).join('')}`;
  const results: { readonly contender: Contender; readonly figures: readonly Figure[] }[] = [];
  for (const contender of contenders) {
    const figures: Figure[] = [];
    for (const size of bench.sizes) figures.push(await measure(env, bench, contender, size));
    results.push({ contender, figures });
    yield `${contender.name.padEnd(36)}${figures.map(({ medianUs, p99Us }) => `${medianUs.toFixed(0)} / ${p99Us.toFixed(0)}`.padStart(14)).join('')}`;
  }
  const most = Math.max(...results.flatMap(({ figures }) => figures.map(({ medianUs }) => medianUs)));
  for (const { contender, figures } of results) {
    yield '';
    yield `${contender.name}: median by size`;
    for (const { size, medianUs } of figures) yield `${String(size).padStart(8)} ${'#'.repeat(Math.max(1, Math.round((medianUs / most) * barMax)))} ${medianUs.toFixed(0)} us`;
  }
  const single = results.filter(({ contender }) => contender.isDurable && contender.gathered === 1);
  single.sort((a, b) => sum(a.figures) - sum(b.figures));
  yield '';
  yield `quickest over all sizes: ${single[0]?.contender.name ?? 'none'}`;
}

function sum(figures: readonly Figure[]): number {
  return figures.reduce((total, { medianUs }) => total + medianUs, 0);
}

async function measure(env: Env, { directory, count }: AppendBench, contender: Contender, size: number): Promise<Figure> {
  const writing = logWriters[contender.writer];
  const writer = new LogWriter(writing, env.clock, contender.isDurable);
  const path = `${directory}/frond-append.bench`;
  const bytes = size * contender.gathered;
  // The log begins each group at a block; what grows is written right behind the last byte, as an append is.
  const step = writing.preallocates ? Math.ceil(bytes / unit) * unit : bytes;
  const writes = Math.ceil(count / contender.gathered);
  if (await env.files.exists(path)) await env.files.remove(path);
  await prepare(env, path, writing.preallocates ? step * writes : 0);
  const file = await env.files.open(path, 'write', { durableWrites: writer.durableWrites });
  try {
    const image = new Uint8Array(bytes).fill(7);
    const times = await timed(env, { file, writer, image, step, writes });
    const at = (share: number): number => ((times[Math.floor((times.length - 1) * share)] ?? 0) * 1000) / contender.gathered;
    return { size, medianUs: at(0.5), p99Us: at(0.99) };
  } finally {
    await file.close();
    await env.files.remove(path);
  }
}

/** A file full of zeros, synced: so that writing to it changes neither size nor places. */
async function prepare(env: Env, path: string, bytes: number): Promise<void> {
  const file = await env.files.open(path, 'write');
  for (let at = 0; at < bytes; at += zeros.length) await file.write(zeros.subarray(0, Math.min(zeros.length, bytes - at)), at);
  await file.sync();
  await file.close();
}

interface Run {
  readonly file: File;
  readonly writer: LogWriter;
  readonly image: Uint8Array;
  readonly step: number;
  readonly writes: number;
}

/** Milliseconds of each write, ascending. */
async function timed(env: Env, { file, writer, image, step, writes }: Run): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < writes; i++) {
    const begun = env.clock.monotonicMs();
    const writing = writer.write(file, image, i * step);
    if (writing !== undefined) await writing;
    times.push(env.clock.monotonicMs() - begun);
    // Writes on the main thread leave no turn to anybody.
    if (i % 64 === 63) await env.tasks.pause();
  }
  return times.sort((a, b) => a - b);
}
