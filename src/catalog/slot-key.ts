// Slots to key bytes and type bits, straight from where the values lie.

import { ByteSink, decodeKey, encodeRawKeyPart, KeyBitsWriter } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Direction } from '../engine/index.ts';
import type { IndexKey } from './index-row.ts';
import type { Slot } from './slot.ts';

const sinkBytesMax = 65536;
let shared = new ByteSink(1024);
const bits = new KeyBitsWriter();

/** The key of these slots, one field each. */
export function encodeSlots(slots: readonly Slot[], directions: readonly Direction[]): IndexKey {
  const sink = shared;
  sink.length = 0;
  for (let i = 0; i < slots.length; i++) {
    const { bytes, type, at } = slots[i] as Slot;
    encodeRawKeyPart(sink, bytes, type, at, directions[i] ?? 1);
    bits.addRaw(bytes, type, at);
  }
  if (sink.bytes.length > sinkBytesMax) shared = new ByteSink(1024);
  return { fields: sink.toBytes(), typeBits: bits.finish() };
}

/** The exact values of a key. */
export function decodeSlots(key: IndexKey, directions: readonly Direction[]): Value[] {
  return decodeKey(key.fields, directions, key.typeBits);
}
