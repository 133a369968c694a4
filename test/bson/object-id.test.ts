import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ObjectId, ObjectIdGenerator } from '../../src/bson/index.ts';

describe('ObjectId', () => {
  it('is 24 hex digits, and nothing else is', () => {
    const hex = '65a1b2c3d4e5f60718293a4b';
    assert.equal(ObjectId.parse(hex)?.toHexString(), hex);
    assert.equal(ObjectId.parse(hex.toUpperCase())?.toHexString(), hex);
    assert.equal(ObjectId.parse(hex)?.seconds, 0x65a1b2c3);
    for (const text of ['', hex.slice(1), `${hex}0`, `${hex.slice(1)}g`]) assert.equal(ObjectId.parse(text), undefined);
  });

  it('is generated from time, five random bytes and a counter that wraps around', () => {
    const random = { bytes: () => Uint8Array.of(1, 2, 3, 4, 5, 0xff, 0xff, 0xfe) };
    const generator = new ObjectIdGenerator({ clock: { nowMs: () => 1700000000999 }, random });
    assert.equal(generator.next().toHexString(), '6553f1000102030405ffffff');
    assert.equal(generator.next().toHexString(), '6553f1000102030405000000');
  });
});
