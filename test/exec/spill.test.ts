// What does not fit in memory goes to a scratch place and comes back in order.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import type { Document } from '../../src/bson/index.ts';
import { ExternalSorter } from '../../src/exec/index.ts';
import type { Scratch, SortCodec } from '../../src/exec/index.ts';
import { SpilledDocuments } from '../../src/exec/spilled-documents.ts';
import { operation, valueOf } from './memory-provider.ts';

interface Numbered {
  readonly key: Uint8Array;
  readonly order: number;
  readonly text: string;
}

const codec: SortCodec<Numbered> = {
  pack: ({ text }) => new TextEncoder().encode(text),
  unpack: (place, packed) => ({ ...place, text: new TextDecoder().decode(packed) }),
};

/** A scratch place in memory. */
class MemoryScratch implements Scratch {
  readonly pieces: Uint8Array[] = [];
  isOpen = true;

  append(bytes: Uint8Array): Promise<{ offset: number; length: number }> {
    this.pieces.push(bytes.slice());
    return Promise.resolve({ offset: this.pieces.length - 1, length: bytes.length });
  }

  read({ offset }: { offset: number }): Promise<Uint8Array> {
    return Promise.resolve(this.pieces[offset] ?? new Uint8Array(0));
  }

  close(): void {
    this.isOpen = false;
  }
}

describe('a sort of more than memory', () => {
  it('gives what a sort in memory gives, however often it writes out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.uint8Array({ maxLength: 3 }), fc.string({ maxLength: 8 })), { maxLength: 200 }), fc.integer({ min: 1, max: 4000 }), fc.nat(250), async (rows, bytesMax, limit) => {
        const scratch = new MemoryScratch();
        const sorter = new ExternalSorter(codec, () => Promise.resolve(scratch), () => new RangeError('too much'), bytesMax);
        const entries = rows.map(([key, text], order) => ({ key, order, text }));
        for (const entry of entries) {
          sorter.add(entry, entry.text.length);
          await sorter.relieve();
        }
        const found: string[] = [];
        for await (const batch of sorter.results(limit)) found.push(...batch.map(({ text }) => text));
        sorter.close();
        const expected = entries.toSorted((a, b) => Buffer.compare(a.key, b.key) || a.order - b.order).slice(0, limit);
        assert.deepEqual(found, expected.map(({ text }) => text));
        assert.equal(scratch.isOpen, sorter.spills === 0);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses where nothing may be written', async () => {
    const sorter = new ExternalSorter(codec, undefined, () => new RangeError('too much'), 100);
    sorter.add({ key: new Uint8Array(50), order: 0, text: 'x' }, 1);
    await assert.rejects(sorter.relieve(), RangeError);
  });
});

describe('documents put aside', () => {
  it('come back part by part, those of one key together and in order', async () => {
    const scratch = new MemoryScratch();
    const aside = new SpilledDocuments(scratch, 0);
    for (let i = 0; i < 2000; i++) {
      aside.add(`k${String(i % 100)}`, valueOf({ k: i % 100, i }) as Document);
      await aside.relieve();
    }
    const placeOf = new Map<number, number>();
    const last = new Map<number, number>();
    let count = 0;
    for (const [index, part] of (await aside.parts()).entries()) {
      for (let batch = await part.next(operation()); batch !== undefined; batch = await part.next(operation())) {
        for (const document of batch) {
          const [k, i] = [Number(document.get('k')), Number(document.get('i'))];
          assert.equal(placeOf.get(k) ?? index, index);
          assert.ok(i > (last.get(k) ?? -1));
          placeOf.set(k, index);
          last.set(k, i);
          count += 1;
        }
      }
    }
    assert.equal(count, 2000);
    assert.ok(new Set(placeOf.values()).size > 8);
  });
});
