// What does not fit in memory goes to a scratch place and comes back in order.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import type { Document } from '../../src/bson/index.ts';
import { ExternalSorter, WorkMemory } from '../../src/exec/index.ts';
import type { Scratch, SortCodec, Workspace } from '../../src/exec/index.ts';
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

function workspaceOf(scratch: Scratch, memory: WorkMemory, mayExceed: boolean = true): Workspace {
  return { memory, mayExceed, openScratch: () => Promise.resolve(scratch) };
}

const MIB = 1024 * 1024;

describe('memory for work', () => {
  it('is given up by who holds most of it when all hold too much, but never in small pieces', () => {
    const memory = new WorkMemory(10 * MIB);
    const [large, small] = [memory.open(), memory.open()];
    assert.equal(large.holds(7 * MIB), false);
    assert.equal(small.holds(4 * MIB), false);
    assert.equal(large.holds(7 * MIB), true);
    assert.equal(memory.held, 11 * MIB);
    assert.equal(large.holds(0), false);
    assert.equal(small.holds(4 * MIB), false);
    large.close();
    small.close();
    small.close();
    assert.equal(memory.held, 0);
    const many = Array.from({ length: 30 }, () => memory.open());
    assert.ok(many.every((hold) => !hold.holds(MIB / 2)));
  });

  it('is shared by a sort that may not use disk: it is written out all the same, and refused at the limit', async () => {
    const scratch = new MemoryScratch();
    const sorter = new ExternalSorter(codec, workspaceOf(scratch, new WorkMemory(MIB), false), () => new RangeError('too much'), 8 * MIB);
    const add = async (order: number): Promise<void> => {
      sorter.add({ key: Uint8Array.of(order % 7), order, text: 'x' }, MIB / 2);
      await sorter.relieve();
    };
    for (let order = 0; order < 15; order++) await add(order);
    assert.ok(sorter.spills >= 4);
    await assert.rejects(async () => {
      for (let order = 15; order < 20; order++) await add(order);
    }, RangeError);
    sorter.close();
  });
});

describe('a sort of more than memory', () => {
  it('gives what a sort in memory gives, however often it writes out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.uint8Array({ maxLength: 3 }), fc.string({ maxLength: 8 })), { maxLength: 200 }), fc.integer({ min: 1, max: 4000 }), fc.nat(250), async (rows, bytesMax, limit) => {
        const scratch = new MemoryScratch();
        const sorter = new ExternalSorter(codec, workspaceOf(scratch, new WorkMemory(1 << 30)), () => new RangeError('too much'), bytesMax);
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
