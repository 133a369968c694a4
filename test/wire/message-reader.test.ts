import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { giveBack } from '../../src/env/index.ts';
import { MessageReader } from '../../src/wire/index.ts';

/** A message of that many bytes: its length, then bytes that tell its place. */
function messageOf(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 16; i < length; i++) bytes[i] = (i * 31 + seed) & 0xff;
  new DataView(bytes.buffer).setInt32(0, length, true);
  return bytes;
}

/** Everything that a reader gives when the bytes come in chunks of that size; what it says is not used any more is taken away. */
function readIn(stream: Uint8Array, chunkBytes: number): Uint8Array[] {
  const reader = new MessageReader(giveBack);
  const messages: Uint8Array[] = [];
  for (let at = 0; at < stream.length; at += chunkBytes) {
    reader.push(stream.slice(at, at + chunkBytes));
    for (let message = reader.next(); message !== undefined; message = reader.next()) messages.push(message);
  }
  assert.equal(reader.pendingBytes, 0);
  return messages;
}

describe('the reader of messages', () => {
  const messages = [messageOf(16, 1), messageOf(700_000, 2), messageOf(17, 3), messageOf(262_144, 4), messageOf(300_001, 5), messageOf(100, 6)];
  const stream = new Uint8Array(messages.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const message of messages) {
    stream.set(message, at);
    at += message.length;
  }

  for (const chunkBytes of [997, 65_536, 262_144, 10_000_000]) {
    test(`gives the same messages when they come in chunks of ${chunkBytes} bytes`, () => {
      assert.deepEqual(readIn(stream, chunkBytes), messages);
    });
  }

  test('tells the length of the message under way, and what has come of it', () => {
    const reader = new MessageReader();
    reader.push(messageOf(700_000, 1).subarray(0, 3));
    assert.equal(reader.next(), undefined);
    assert.equal(reader.pendingLength, 0);
    reader.push(messageOf(700_000, 1).subarray(3, 200_000));
    assert.equal(reader.next(), undefined);
    assert.deepEqual([reader.pendingLength, reader.pendingBytes], [700_000, 200_000]);
  });
});
