import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../../src/base/errors.ts';
import { crc32c } from '../../../src/base/crc32c.ts';
import { GroupEncoder, groupHeader, groupUnit, isGroup, recordsOf } from '../../../src/engine/wal/group.ts';

const bodies = fc.array(fc.uint8Array({ maxLength: 6000 }), { minLength: 1, maxLength: 20 });
const number = fc.integer({ min: 1, max: 2 ** 40 });
const place = fc.record({ segment: number, number, firstSeq: number, chain: fc.integer({ min: 0, max: 2 ** 32 - 1 }), synced: number });

test('a group gives back what was put into it, in whole units, and only in its own segment', () => {
  fc.assert(
    fc.property(bodies, place, (given, at) => {
      const { image, checksum } = new GroupEncoder().encode(given, at);
      assert.equal(image.length % groupUnit, 0);
      const header = groupHeader(image);
      assert.ok(header !== undefined && isGroup(image, header, at.segment));
      assert.deepEqual([header.number, header.firstSeq, header.chain, header.synced, header.checksum], [at.number, at.firstSeq, at.chain, at.synced, checksum]);
      assert.deepEqual(recordsOf(image, header), given.map((body, i) => ({ seq: at.firstSeq + i, body })));
      assert.equal(isGroup(image, header, at.segment + 1), false);
    }),
    { numRuns: 50 },
  );
});

test('a group with any bit of it flipped, or cut, does not validate', () => {
  fc.assert(
    fc.property(bodies, place, fc.nat(), fc.integer({ min: 0, max: 7 }), (given, at, where, bit) => {
      const { image } = new GroupEncoder().encode(given, at);
      const used = 56 + given.reduce((sum, body) => sum + 4 + body.length, 0);
      const damaged = image.slice();
      damaged[where % used] = (damaged[where % used] as number) ^ (1 << bit);
      const header = groupHeader(damaged);
      assert.ok(header === undefined || !isGroup(damaged, header, at.segment));
      const cut = image.slice(0, where % used);
      const cutHeader = groupHeader(cut);
      assert.ok(cutHeader === undefined || !isGroup(cut, cutHeader, at.segment));
    }),
    { numRuns: 200 },
  );
});

test('records whose lengths do not fill the group are corruption, even under a checksum that fits', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 300 }), fc.integer({ min: 0, max: 300 }), (noise, records) => {
      const image = noise.slice();
      const view = new DataView(image.buffer);
      view.setUint32(0, 0x474c5246, true);
      view.setUint32(8, image.length - 56, true);
      view.setUint32(12, records, true);
      for (const at of [16, 24, 32, 48]) view.setUint32(at + 4, 0, true);
      view.setUint32(4, crc32c(image, 8, image.length, 1), true);
      const header = groupHeader(image);
      assert.ok(header !== undefined && isGroup(image, header, 1));
      try {
        const read = recordsOf(image, header);
        assert.equal(read.reduce((sum, { body }) => sum + 4 + body.length, 0), image.length - 56);
      } catch (error) {
        assert.ok(error instanceof EngineError && error.code === 'corruption', String(error));
      }
    }),
    { numRuns: 300 },
  );
});
