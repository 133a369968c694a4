// A data directory that may be damaged, read and never written: every dictionary that the newest readable checkpoint and the log know, with
// all rows that can still be read. What opening would refuse is stepped over here and reported (law 21). For `frond salvage`.

import type { DirectoryLock, Env } from '../../env/index.ts';
import type { BlockNumber } from '../block/block-number.ts';
import { Front } from '../tree/front.ts';
import type { Spill } from '../tree/spilled.ts';
import type { TreeRecord } from '../tree/tree.ts';
import type { DictionaryId, UpdateFunctions } from '../types.ts';
import type { RecordVisitor } from '../wal/record.ts';
import { RecordReader } from '../wal/record.ts';
import { damageOf, isDamage } from './damage.ts';
import type { DamageSink } from './damage.ts';
import { readFoundLog, recordsWanted } from './found-log.ts';
import { FoundBlobs } from './found-blobs.ts';
import { FoundStore } from './found-store.ts';
import type { LoggedLayer } from './tree-reader.ts';
import { TreeReader } from './tree-reader.ts';
import type { FoundRow } from './tree-reader.ts';

/** A damaged directory open for reading. Damage is reported as it is met: that of rows while they are read. */
export interface DirectoryReader {
  /** Dictionaries that are not dropped, ascending. */
  readonly dictionaries: readonly DictionaryId[];
  /** All rows of one dictionary that can be read, in order of keys, in batches. */
  rows(id: DictionaryId): AsyncGenerator<readonly FoundRow[]>;
  close(): Promise<void>;
}

/** A dictionary as checkpoint and log know it. */
interface FoundDictionary {
  readonly record: Pick<TreeRecord, 'id' | 'root' | 'flushedSeq'>;
  isDropped: boolean;
  /** What the log has, oldest first: messages, and what commits spilled. */
  readonly logged: LoggedLayer[];
}

/** Applies the log to what the checkpoint has. */
class LogOverlay implements RecordVisitor {
  seq: number = 0;
  readonly dictionaries: Map<number, FoundDictionary>;

  readonly #spills: ReadonlyMap<number, Spill>;

  constructor(trees: readonly TreeRecord[], spills: readonly Spill[]) {
    this.#spills = new Map(spills.map((spill) => [spill.number, spill]));
    this.dictionaries = new Map(trees.map((record) => [record.id, { record, isDropped: record.droppedSeq !== Infinity, logged: [] }]));
  }

  message(dictionary: number, message: Parameters<RecordVisitor['message']>[1]): void {
    const found = this.dictionaries.get(dictionary);
    if (found === undefined || found.record.flushedSeq >= this.seq) return;
    message.seq = this.seq;
    newestFront(found).appendSlice(message);
  }

  move(dictionary: number, message: Parameters<RecordVisitor['message']>[1]): void {
    this.message(dictionary, message);
  }

  rangeDelete(dictionary: number, { from, to }: Parameters<RecordVisitor['rangeDelete']>[1]): void {
    const found = this.dictionaries.get(dictionary);
    if (found === undefined || found.record.flushedSeq >= this.seq) return;
    newestFront(found).appendRange({ from, to, seq: this.seq });
  }

  spill(dictionary: number, number: number): void {
    const found = this.dictionaries.get(dictionary);
    const spill = this.#spills.get(number);
    if (found === undefined || spill === undefined || found.record.flushedSeq >= this.seq) return;
    found.logged.push({ extents: spill.extents, seq: this.seq });
  }

  count(): void {
    // Totals are counted anew from the rows that are found.
  }

  create(dictionary: number): void {
    if (this.dictionaries.has(dictionary)) return;
    this.dictionaries.set(dictionary, { record: { id: dictionary as DictionaryId, root: 0 as BlockNumber, flushedSeq: 0 }, isDropped: false, logged: [] });
  }

  drop(dictionary: number): void {
    const found = this.dictionaries.get(dictionary);
    if (found !== undefined) found.isDropped = true;
  }
}

/** The front that takes what is newest. */
function newestFront(found: FoundDictionary): Front {
  const last = found.logged.at(-1);
  if (last instanceof Front) return last;
  const front = new Front();
  found.logged.push(front);
  return front;
}

const partsAtOnce = 1 << 20;

/** Opens a directory for salvage. `locked` when somebody has it open, `corruption` when no checkpoint can be read at all. */
export async function readDirectory(env: Env, path: string, report: DamageSink, updates: UpdateFunctions = new Map()): Promise<DirectoryReader> {
  const lock = await env.files.lockDirectory(path, 'reading');
  try {
    const store = await FoundStore.open(env, `${path}/data.frond`, report);
    try {
      return await overlaid(env, { path, lock, store, report, updates });
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface Opened {
  readonly path: string;
  readonly lock: DirectoryLock;
  readonly store: FoundStore;
  readonly report: DamageSink;
  readonly updates: UpdateFunctions;
}

async function overlaid(env: Env, { path, lock, store, report, updates }: Opened): Promise<DirectoryReader> {
  const overlay = new LogOverlay(store.trees, store.spills);
  const record = (seq: number, body: Uint8Array): void => {
    overlay.seq = seq;
    try {
      new RecordReader(body).read(overlay, partsAtOnce);
    } catch (error) {
      if (!isDamage(error)) throw error;
      report(damageOf(error, { message: `record ${String(seq)} of the log cannot be read` }));
    }
  };
  await readFoundLog(env, `${path}/log`, recordsWanted(store.superblock.root), { visit: { record }, report });
  const found = [...overlay.dictionaries.values()].filter(({ isDropped }) => !isDropped);
  const blobs = new FoundBlobs(env, `${path}/blob`, report);
  const sources = { store, blobs, codecs: env.codecs, tasks: env.tasks, report, updates };
  return {
    dictionaries: found.map(({ record: { id } }) => id).sort((a, b) => a - b),
    rows: (id) => {
      const wanted = overlay.dictionaries.get(id);
      return new TreeReader(sources, wanted?.record ?? { id, root: 0 as BlockNumber }, wanted?.logged ?? []).rows();
    },
    close: async () => {
      await blobs.close();
      await store.close().finally(() => lock.release());
    },
  };
}
