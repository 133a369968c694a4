// Any ranges of any file in chunks of any size, on the wire: the bytes that RFC 9110 says, as many as Content-Length says, or 200 or 416 as it says.
// What is compared with is the file as one array.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRange } from '../../src/gateway/byte-range.ts';
import { patternBytes } from '../support/file-store.ts';
import { requestHead, withGateway } from './gateway-for-test.ts';
import type { RawAnswer } from './gateway-for-test.ts';

/** The parts of a multipart/byteranges body, read by their own Content-Range. */
function partsOf(answer: RawAnswer): readonly { readonly range: string; readonly bytes: Uint8Array }[] {
  const boundary = /boundary=(\S+)$/.exec(answer.fields['content-type'] ?? '')?.[1] ?? '';
  const text = Buffer.from(answer.body).toString('latin1');
  assert.ok(text.endsWith(`\r\n--${boundary}--\r\n`));
  return text
    .slice(0, -`\r\n--${boundary}--\r\n`.length)
    .split(new RegExp(`(?:^|\r\n)--${boundary}\r\n`))
    .slice(1)
    .map((part) => {
      const cut = part.indexOf('\r\n\r\n');
      return { range: /Content-Range: (.*)/.exec(part.slice(0, cut))?.[1]?.trim() ?? '', bytes: new Uint8Array(Buffer.from(part.slice(cut + 4), 'latin1')) };
    });
}

test('any ranges of any file are the bytes asked for', () => withGateway(async (opened) => {
  const position = fc.oneof(fc.constant(''), fc.nat(6000).map(String));
  const header = fc.array(fc.tuple(position, position), { minLength: 1, maxLength: 4 }).map((specs) => `bytes=${specs.map(([a, b]) => `${a}-${b}`).join(', ')}`);
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 6000 }), fc.array(header, { minLength: 1, maxLength: 6 }), async (length, chunkSize, headers) => {
      const bytes = patternBytes(length, length);
      const filename = `file ${files++}`;
      await opened.opened.plant({ filename, bytes, chunkSize });
      const client = opened.client();
      for (const value of headers) {
        client.send(requestHead('GET', `/files/${encodeURIComponent(filename)}`, { Range: value }));
        const answer = await client.answer();
        assert.equal(answer.whole, true);
        const asked = readRange(value, length);
        if (asked.kind === 'none') assert.deepEqual([answer.status, answer.fields['content-range']], [416, `bytes */${length}`]);
        else if (asked.kind === 'whole') assert.deepEqual([answer.status, answer.body], [200, bytes]);
        else {
          const expected = asked.ranges.map(({ first, last }) => ({ range: `bytes ${first}-${last}/${length}`, bytes: bytes.slice(first, last + 1) }));
          const parts = asked.ranges.length === 1 ? [{ range: answer.fields['content-range'], bytes: answer.body }] : partsOf(answer);
          assert.equal(answer.status, 206);
          assert.deepEqual(parts, expected);
        }
      }
      client.destroy();
    }),
    { numRuns: 60 },
  );
}, { windowBytes: 2000 }));
