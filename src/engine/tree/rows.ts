// Rows as a scan gives them: by reference to immutable runs, so that nothing is copied.

import { decodeReference, encodeReference } from '../run/blob-reference.ts';
import type { BlobReference } from '../run/blob-reference.ts';
import { messageKinds } from '../run/message.ts';
import { RunBuilder } from '../run/run-builder.ts';
import type { Run } from '../run/run.ts';

/** Rows by reference. */
export class Rows {
  readonly runs: Run[] = [];
  readonly indexes: number[] = [];
  bytes: number = 0;
  /** How many of them refer to their values. */
  references: number = 0;
  /** What is to be made of the values that some of these refer to. */
  updates: Map<number, readonly Uint8Array[]> | undefined;

  get length(): number {
    return this.runs.length;
  }

  add(run: Run, index: number): void {
    this.runs.push(run);
    this.indexes.push(index);
    const { keyOffsets, valueOffsets } = run;
    this.bytes += (keyOffsets[index + 1] as number) - (keyOffsets[index] as number);
    this.bytes += (valueOffsets[index + 1] as number) - (valueOffsets[index] as number);
    if (run.kinds[index] === messageKinds.reference) this.#addReference(run, index);
  }

  /** Adds a row that refers to its value, and what is still to be made of that, newest first. */
  addUpdated(run: Run, updates: readonly Uint8Array[]): void {
    this.updates ??= new Map();
    this.updates.set(this.length, updates);
    this.add(run, 0);
  }


  /** The value counts, not what refers to it. */
  #addReference(run: Run, index: number): void {
    this.references += 1;
    this.bytes += decodeReference(run.value(index)).length;
  }
}

/** A run of one put, or of a reference. */
export function singleRow(key: Uint8Array, found: Uint8Array | BlobReference): Run {
  const value = found instanceof Uint8Array ? found : encodeReference(found);
  const builder = new RunBuilder();
  builder.appendMessage({ key, seq: 0, kind: found instanceof Uint8Array ? messageKinds.put : messageKinds.reference, value });
  return builder.finish();
}
