// What an environment holds after some commits, in the most obvious form. Keys and values as `hex` writes them.

import assert from 'node:assert/strict';
import type { DictionaryId } from '../../src/engine/index.ts';

/** One change of a commit. */
export type Change =
  | { readonly kind: 'put'; readonly dictionary: number; readonly key: string; readonly value: string | undefined }
  | { readonly kind: 'range'; readonly dictionary: number; readonly from: string | undefined; readonly to: string | undefined }
  | { readonly kind: 'count'; readonly dictionary: number; readonly rows: number; readonly bytes: number }
  | { readonly kind: 'create'; readonly dictionary: DictionaryId }
  | { readonly kind: 'drop'; readonly dictionary: number };

export interface Totals {
  readonly rows: number;
  readonly bytes: number;
}

interface Contents {
  readonly rows: Map<string, string>;
  totals: Totals;
}

/** Whether a key lies in a range; as hexadecimal text it has the order of its bytes. */
export function isInside(key: string, { from, to }: { readonly from: string | undefined; readonly to: string | undefined }): boolean {
  return (from === undefined || key >= from) && (to === undefined || key < to);
}

/** Dictionary 1 is there from the beginning. */
export class State {
  readonly #contents = new Map<number, Contents>([[1, { rows: new Map(), totals: { rows: 0, bytes: 0 } }]]);
  readonly #dropped = new Set<number>();

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === 'create') this.#contents.set(change.dictionary, { rows: new Map(), totals: { rows: 0, bytes: 0 } });
      else if (change.kind === 'drop') {
        this.#contents.delete(change.dictionary);
        this.#dropped.add(change.dictionary);
        continue;
      }
      const contents = this.#contents.get(change.dictionary);
      if (change.kind === 'create') continue;
      assert.ok(contents !== undefined, `nobody writes to dictionary ${change.dictionary} after its drop`);
      if (change.kind === 'count') contents.totals = { rows: contents.totals.rows + change.rows, bytes: contents.totals.bytes + change.bytes };
      else if (change.kind === 'range') {
        for (const key of [...contents.rows.keys()]) if (isInside(key, change)) contents.rows.delete(key);
      } else if (change.value === undefined) contents.rows.delete(change.key);
      else contents.rows.set(change.key, change.value);
    }
  }

  has(dictionary: number): boolean {
    return this.#contents.has(dictionary);
  }

  get(dictionary: number, key: string): string | undefined {
    return this.#contents.get(dictionary)?.rows.get(key);
  }

  /** Rows in the order of keys. */
  rows(dictionary: number): string[] {
    const rows = [...(this.#contents.get(dictionary)?.rows ?? [])];
    return rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}=${value}`);
  }

  totals(dictionary: number): Totals {
    return this.#contents.get(dictionary)?.totals ?? { rows: 0, bytes: 0 };
  }

  dictionaries(): number[] {
    return [...this.#contents.keys()];
  }

  dropped(): number[] {
    return [...this.#dropped];
  }
}
