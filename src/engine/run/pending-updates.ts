// The updates of one key on their way through a merge: they are kept back until the version comes that they build on, or it is known that there
// is none here (law 11). Neighbours that no snapshot tells apart are one message; where the base is known all of them become puts and removes.

import { concatBytes } from '../../base/bytes.ts';
import { messageKinds } from './message.ts';
import type { Run } from './run.ts';
import { RunBuilder } from './run-builder.ts';
import { applyOperations } from './update.ts';
import type { UpdateFunctions } from '../types.ts';

/** Updates that everybody sees together: newest first, and the seq of the newest. */
interface Together {
  readonly seq: number;
  readonly operations: Uint8Array[];
}

/** What older there is of the key: its value, or that it has none. */
export interface UpdateBase {
  readonly value: Uint8Array | undefined;
}

const nothing = new Uint8Array(0);

/** Updates of one key, from the newest on. */
export class PendingUpdates {
  readonly #key: Uint8Array;
  readonly #groups: Together[];
  /** Seq of the oldest so far. */
  oldestSeq: number;

  /** Bytes are copied: a run may go while its updates wait. */
  constructor(run: Run, at: number, seq: number) {
    this.#key = run.key(at).slice();
    this.#groups = [{ seq, operations: [run.value(at).slice()] }];
    this.oldestSeq = seq;
  }

  get key(): Uint8Array {
    return this.#key;
  }

  /** Takes the next older update; `isSeen`: somebody sees the key with it and without what is newer. */
  add(run: Run, at: number, seq: number, isSeen: boolean): void {
    const operations = run.value(at).slice();
    if (isSeen) this.#groups.push({ seq, operations: [operations] });
    else this.#groups.at(-1)?.operations.push(operations);
    this.oldestSeq = seq;
  }

  /** What is to be written in their place, newest first; without a base they stay updates. */
  finish(functions: UpdateFunctions, base: UpdateBase | undefined): Run {
    const messages: { seq: number; kind: 0 | 1 | 3; value: Uint8Array }[] = [];
    let value = base?.value;
    for (const { seq, operations } of this.#groups.toReversed()) {
      const all = concatBytes(operations.toReversed());
      if (base === undefined) messages.push({ seq, kind: messageKinds.update, value: all });
      else {
        value = applyOperations(functions, value, all);
        messages.push(value === undefined ? { seq, kind: messageKinds.remove, value: nothing } : { seq, kind: messageKinds.put, value });
      }
    }
    const builder = new RunBuilder(messages.length, this.#key.length);
    for (const message of messages.toReversed()) builder.appendMessage({ key: this.#key, ...message });
    return builder.finish();
  }
}
