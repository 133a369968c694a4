// PagedBytes against a plain array: any sequence of writes, cuts, reads and clones, in pages so small that every edge is met.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PagedBytes } from '../../src/env/index.ts';

const pageBytes = 8;

interface Twin {
  readonly paged: PagedBytes;
  model: number[];
}

type Step =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Uint8Array; readonly skip: number }
  | { readonly kind: 'truncate'; readonly at: number }
  | { readonly kind: 'clone' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), at: fc.nat(40), bytes: fc.uint8Array({ maxLength: 30 }), skip: fc.nat(3) }),
  fc.record({ kind: fc.constant('truncate' as const), at: fc.nat(60) }),
  fc.record({ kind: fc.constant('clone' as const) }),
);

function write(model: number[], bytes: Uint8Array, at: number): void {
  if (bytes.length === 0) return;
  while (model.length < at) model.push(0);
  model.splice(at, bytes.length, ...bytes);
}

function check({ paged, model }: Twin): void {
  assert.equal(paged.size, model.length);
  for (const [from, length] of [[0, 100], [3, 5], [7, 9], [8, 8], [60, 4]] as const) {
    const target = new Uint8Array(length).fill(0xee);
    const expected = model.slice(from, from + length);
    assert.equal(paged.read(target, from), expected.length);
    assert.deepEqual([...target.subarray(0, expected.length)], expected);
    assert.ok(target.subarray(expected.length).every((byte) => byte === 0xee));
  }
}

test('paged bytes and their clones are what the same steps make of plain arrays', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), step), { maxLength: 30 }), (script) => {
      const twins: Twin[] = [{ paged: new PagedBytes(pageBytes), model: [] }];
      for (const [pick, action] of script) {
        const twin = twins[pick % twins.length] as Twin;
        if (action.kind === 'clone') twins.push({ paged: twin.paged.clone(), model: [...twin.model] });
        else if (action.kind === 'truncate') {
          twin.paged.truncate(action.at);
          twin.model = Array.from({ length: action.at }, (_, index) => twin.model[index] ?? 0);
        } else {
          const skip = Math.min(action.skip, action.bytes.length);
          twin.paged.write(action.bytes, action.at, skip);
          write(twin.model, action.bytes.subarray(skip), action.at);
        }
        twins.forEach(check);
      }
    }),
    { numRuns: 300 },
  );
});

test('holes and shared pages cost no memory', () => {
  const paged = new PagedBytes(4096);
  paged.write(Uint8Array.of(1), 1_000_000);
  assert.equal(paged.residentBytes, 4096);
  paged.truncate(10);
  assert.equal(paged.residentBytes, 0);
});
