// The log record of one commit: what comes and goes of dictionaries, what was spilled, range deletes, the last message of each key, totals, and
// rows whose keys begin with the commit's stamp.

import type { StampedValues } from './blob-writes.ts';
import { checkRecordSize } from './commits.ts';
import type { CommitInMemory } from './commits.ts';
import { decodeReference } from './run/blob-reference.ts';
import type { EngineState } from './state.ts';
import { emptySlice } from './run/message.ts';
import type { Front } from './tree/front.ts';
import type { Spill } from './tree/spilled.ts';
import { WriteSet } from './txn/write-set.ts';
import type { DictionaryId } from './types.ts';
import type { RecordWriter } from './wal/record.ts';

/** A record, and where stamps are to be put in it. */
export interface CommitRecord {
  readonly body: Uint8Array;
  readonly places: readonly number[];
  readonly inMemory: CommitInMemory | undefined;
}

/** What a commit consists of. */
export interface CommitContents {
  readonly writes: WriteSet;
  /** What of it is spilled: of these dictionaries no message is in memory any more. */
  readonly announced: readonly Spill[];
  readonly rows: StampedValues | undefined;
}

const nothingSpilled: ReadonlySet<number> = new Set();

/** The record. Rows with stamps do not count against its size (`too-large`). */
export function recordOf(state: EngineState, { writes, announced, rows }: CommitContents): CommitRecord {
  const writer = state.recordWriter;
  writer.begin();
  for (const { id, kind, options } of writes.changes) if (kind !== 'drop' && options !== undefined) writer.create(id, options);
  for (const { dictionary, number } of announced) writer.spill(dictionary, number);
  const start = writer.length;
  const fronts = writeMessages(state, writes, announced.length === 0 ? nothingSpilled : new Set(announced.map(({ dictionary }) => dictionary)));
  const inMemory = fronts === undefined ? undefined : { fronts, start, end: writer.length };
  writes.eachTotal((id, added, bytes) => {
    if (added !== 0 || bytes !== 0) writer.count(id, added, bytes);
  });
  for (const { id, kind } of writes.changes) if (kind === 'drop') writer.drop(id);
  const stamped = rows === undefined ? { bytes: 0, places: [] } : writeStamped(state, rows);
  const body = writer.body();
  checkRecordSize(state, body.length - stamped.bytes);
  return { body, places: stamped.places, inMemory };
}

/** More messages are applied in slices, from the record. */
const inMemoryMax = 8000;

/** Puts that are one part of a record. */
const putsOfPart = 1000;

/** Writes the messages; those of a commit that has nothing but plain ones, and not too many, are given as they are in memory. */
function writeMessages({ recordWriter }: EngineState, writes: WriteSet, spilled: ReadonlySet<number>): CommitInMemory['fronts'] | undefined {
  const fronts: (readonly [DictionaryId, Front])[] = [];
  let [isPlain, count] = [true, 0];
  for (const [id, front] of writes.fronts) {
    for (const range of front.ranges) recordWriter.rangeDelete(id, range);
    count += front.count;
    if (spilled.has(id) || !front.isPlain) isPlain = false;
    if (spilled.has(id)) continue;
    if (front.isPlain) {
      for (let from = 0; from < front.count; from += putsOfPart) recordWriter.puts(id, front, from, Math.min(front.count, from + putsOfPart));
      fronts.push([id, front]);
    } else writeEach(recordWriter, id, front);
  }
  return isPlain && count <= inMemoryMax ? fronts : undefined;
}

function writeEach(recordWriter: RecordWriter, id: DictionaryId, front: Front): void {
  const slice = emptySlice();
  for (let entry = 0; entry < front.count; entry++) {
    if (!WriteSet.isLast(front, entry)) continue;
    front.slice(entry, slice);
    recordWriter.message(id, slice);
  }
}

function writeStamped({ recordWriter }: EngineState, { rows, values }: StampedValues): { bytes: number; places: readonly number[] } {
  const id = rows.dictionary();
  let [bytes, elsewhere] = [0, 0];
  values.forEach((value, place) => {
    bytes += recordWriter.stampedRow(id, place, value);
    if (value.isReference) elsewhere += decodeReference(value.bytes).length - value.bytes.length;
  });
  recordWriter.count(id, rows.counted, bytes + elsewhere);
  return { bytes, places: recordWriter.stampPlaces };
}

/** Puts the stamp where it belongs. */
export function stampAll(body: Uint8Array, places: readonly number[], stamp: Uint8Array): void {
  for (const place of places) body.set(stamp, place);
}
