// Reading stored files over a bare socket. Each test cites its rule: a section of RFC 9110, or a public report of gateway.md, section 10 (P1 .. P14).

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { DateTime, Document } from '../../src/bson/index.ts';
import { FileId } from '../../src/gridfs/index.ts';
import { patternBytes } from '../support/file-store.ts';
import { jsonOf, requestHead, withGateway } from './gateway-for-test.ts';
import type { Fields, RawAnswer , GatewayForTest} from './gateway-for-test.ts';

const N = 1_000_003;
const bytes = patternBytes(N);
const uploaded = Date.UTC(2024, 0, 2, 3, 4, 5);

async function planted(work: (opened: GatewayForTest, id: string) => Promise<void>, chunkSize = 255 * 1024): Promise<void> {
  await withGateway(async (opened) => {
    await opened.opened.createIndexes();
    const id = await opened.opened.plant({ bytes, chunkSize });
    await work(opened, FileId.of(id).text);
  });
}

const range = (value: string): Fields => ({ Range: value });

function assertPart(answer: RawAnswer, first: number, last: number): void {
  assert.equal(answer.status, 206);
  assert.equal(answer.fields['content-range'], `bytes ${first}-${last}/${N}`);
  assert.equal(answer.fields['content-length'], String(last - first + 1));
  assert.equal(answer.whole, true);
  assert.deepEqual(answer.body, bytes.subarray(first, last + 1));
}

describe('GET of a file', () => {
  test('without Range is 200 with all that players need (P1; 14.3, 8.8)', () => planted(async (opened, id) => {
    const answer = await opened.ask('GET', '/files/movie.mp4');
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, bytes);
    const { fields } = answer;
    assert.equal(fields['content-length'], String(N));
    assert.equal(fields['accept-ranges'], 'bytes');
    assert.equal(fields['content-range'], undefined);
    assert.equal(fields['content-type'], 'video/mp4');
    assert.equal(fields['x-content-type-options'], 'nosniff');
    assert.equal(fields['x-accel-buffering'], 'no');
    assert.equal(fields['last-modified'], 'Tue, 02 Jan 2024 03:04:05 GMT');
    assert.equal(fields['content-disposition'], 'inline; filename="movie.mp4"');
    assert.equal(fields['cache-control'], 'private, no-cache');
    assert.match(fields['etag']!, /^"[\w-]+"$/);
    assert.notEqual(fields['date'], undefined);
    assert.equal(fields['content-encoding'], undefined);
    assert.equal(fields['transfer-encoding'], undefined);
    const byId = await opened.ask('GET', `/b/fs/id/${id}`);
    assert.deepEqual(byId.body, bytes);
    assert.equal(byId.fields['cache-control'], 'private, max-age=31536000, immutable');
    assert.equal(byId.fields['etag'], fields['etag']);
  }));

  for (const chunkSize of [1000, 65536, 255 * 1024, 2 ** 20, N, N + 1]) {
    test(`in chunks of ${chunkSize} bytes gives the bytes of every kind of range (P3 .. P7, 14.1.2)`, () => planted(async (opened) => {
      for (const [header, first, last] of [
        ['bytes=0-', 0, N - 1], ['bytes=0-0', 0, 0], ['bytes=0-1', 0, 1], ['bytes=0-100', 0, 100], ['bytes=26104-', 26104, N - 1], [`bytes=${N - 1}-`, N - 1, N - 1], ['bytes=-1', N - 1, N - 1],
        ['bytes=-5', N - 5, N - 1], [`bytes=-${N}`, 0, N - 1], ['bytes=-9999999', 0, N - 1], [`bytes=0-${N}`, 0, N - 1], ['bytes=8000-8099', 8000, 8099], ['bytes=999-1000', 999, 1000], ['bytes=1000-1999', 1000, 1999],
        ['bytes=65535-65536', 65535, 65536], ['bytes=261119-261120', 261119, 261120], ['bytes=100-700000', 100, 700000],
      ] as const) {
        assertPart(await opened.ask('GET', '/files/movie.mp4', range(header)), first, last);
      }
    }, chunkSize));
  }

  test('of a range that cannot be satisfied is 416 with the length (15.5.17)', () => planted(async (opened) => {
    for (const header of [`bytes=${N}-`, 'bytes=-0', 'bytes=99999999999999999999-']) {
      const answer = await opened.ask('GET', '/files/movie.mp4', range(header));
      assert.equal(answer.status, 416);
      assert.equal(answer.fields['content-range'], `bytes */${N}`);
      const { code, length, status } = jsonOf(answer);
      assert.deepEqual([code, length, status], ['range_not_satisfiable', N, 416]);
    }
  }));

  test('with a Range that is none, or of another unit, is 200 with all (14.2)', () => planted(async (opened) => {
    for (const header of ['bytes=abc', 'bytes=', 'bytes', 'bytes=5-2', 'seconds=0-1', 'bytes=0-,0-']) {
      const answer = await opened.ask('GET', '/files/movie.mp4', range(header));
      assert.equal(answer.status, 200, header);
      assert.equal(answer.fields['content-range'], undefined);
      assert.deepEqual(answer.body, bytes);
    }
  }));

  test('of several ranges is multipart/byteranges of exact length, in the order asked (14.6)', () => planted(async (opened) => {
    const asked = [[700000, 700009], [0, 1], [N - 3, N - 1]] as const;
    const answer = await opened.ask('GET', '/files/movie.mp4', range(`bytes=700000-700009, 0-1, -3`));
    assert.equal(answer.status, 206);
    assert.equal(answer.whole, true);
    assert.equal(answer.fields['content-range'], undefined);
    const boundary = /^multipart\/byteranges; boundary=(\S+)$/.exec(answer.fields['content-type']!)![1]!;
    const parts = asked.map(([first, last], i) => {
      const head = `${i === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Type: video/mp4\r\nContent-Range: bytes ${first}-${last}/${N}\r\n\r\n`;
      return concatBytes([Buffer.from(head), bytes.subarray(first, last + 1)]);
    });
    assert.deepEqual(answer.body, concatBytes([...parts, Buffer.from(`\r\n--${boundary}--\r\n`)]));
  }));

  test('of an empty file ignores Range (14.1.2: nothing to select)', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes: new Uint8Array(0) });
    for (const header of ['bytes=0-', 'bytes=-5']) {
      const answer = await opened.ask('GET', '/files/movie.mp4', range(header));
      assert.deepEqual([answer.status, answer.fields['content-length'], answer.body.length], [200, '0', 0]);
    }
  }));

  test('smaller than a chunk is whole at once, and the connection is used again (P7)', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes: patternBytes(37000) });
    const client = opened.client();
    for (let i = 0; i < 3; i++) {
      client.send(requestHead('GET', '/files/movie.mp4', range('bytes=0-')));
      const answer = await client.answer();
      assert.deepEqual([answer.status, answer.whole, answer.body.length], [206, true, 37000]);
    }
    client.destroy();
  }));

  test('sent one after the other without waiting is answered in order', () => planted(async (opened) => {
    const client = opened.client();
    client.send(requestHead('GET', '/files/movie.mp4', range('bytes=0-499999')) + requestHead('GET', '/files/movie.mp4', range('bytes=5-6')) + requestHead('HEAD', '/nothing', {}));
    assertPart(await client.answer(), 0, 499999);
    assertPart(await client.answer(), 5, 6);
    assert.equal((await client.answer({ toHead: true })).status, 404);
    client.destroy();
  }));
});

describe('HEAD of a file', () => {
  test('is the head of GET without a body; Range is ignored (9.3.2, 14.2)', () => planted(async (opened) => {
    const get = await opened.ask('GET', '/files/movie.mp4');
    const client = opened.client();
    client.send(requestHead('HEAD', '/files/movie.mp4', range('bytes=0-1')));
    const head = await client.answer({ toHead: true });
    assert.equal(head.status, 200);
    for (const name of ['content-length', 'content-type', 'etag', 'last-modified', 'accept-ranges', 'content-disposition', 'cache-control']) assert.equal(head.fields[name], get.fields[name], name);
    client.send(requestHead('GET', '/files/movie.mp4', range('bytes=3-3')));
    assertPart(await client.answer(), 3, 3);
    client.destroy();
  }));
});

describe('conditions on a file', () => {
  test('If-None-Match and If-Modified-Since give 304 without a body (P12; 13.1.2, 13.1.3, 15.4.5)', () => planted(async (opened) => {
    const { fields } = await opened.ask('HEAD', '/files/movie.mp4');
    const conditions: Fields[] = [{ 'If-None-Match': fields['etag']! }, { 'If-None-Match': `"x", W/${fields['etag']!}` }, { 'If-None-Match': '*' }, { 'If-Modified-Since': fields['last-modified']! }];
    for (const condition of conditions) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await opened.ask(method, '/files/movie.mp4', { ...condition, Range: 'bytes=0-1' });
        assert.deepEqual([answer.status, answer.body.length, answer.fields['etag'], answer.fields['cache-control']], [304, 0, fields['etag'], 'private, no-cache'], JSON.stringify(condition));
        assert.equal(answer.fields['content-type'], undefined);
      }
    }
  }));

  test('If-Match and If-Unmodified-Since give 412, before ranges are looked at (13.1.1, 13.1.4, 13.2.2)', () => planted(async (opened) => {
    for (const condition of [{ 'If-Match': '"other"' }, { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' }]) {
      const answer = await opened.ask('GET', '/files/movie.mp4', { ...condition, Range: `bytes=${N}-` });
      assert.deepEqual([answer.status, jsonOf(answer)['code']], [412, 'precondition_failed']);
    }
  }));

  test('If-Range lets a range through for the same file only (P14; 13.1.5)', () => planted(async (opened) => {
    const { fields } = await opened.ask('HEAD', '/files/movie.mp4');
    for (const validator of [fields['etag']!, fields['last-modified']!]) assertPart(await opened.ask('GET', '/files/movie.mp4', { Range: 'bytes=3-9', 'If-Range': validator }), 3, 9);
    for (const validator of ['"other"', `W/${fields['etag']!}`, 'Thu, 01 Jan 1970 00:00:00 GMT', 'Tue, 02 Jan 2024 03:04:06 GMT', 'x']) {
      const answer = await opened.ask('GET', '/files/movie.mp4', { Range: 'bytes=3-', 'If-Range': validator });
      assert.deepEqual([answer.status, answer.body.length], [200, N], validator);
    }
    // A new revision under the name: what the old validators name is not there any more.
    await opened.opened.plant({ bytes: patternBytes(500, 2), fields: { uploadDate: new DateTime(uploaded + 999) } });
    for (const validator of [fields['etag']!, fields['last-modified']!]) {
      const answer = await opened.ask('GET', '/files/movie.mp4', { Range: 'bytes=3-9', 'If-Range': validator });
      assert.deepEqual([answer.status, answer.body.length], [200, 500], validator);
    }
  }));

  test('a date in the future is told as now, a missing one not at all (8.8.2.1)', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes, filename: 'future', fields: { uploadDate: new DateTime(Date.now() + 1e9) } });
    await opened.opened.plant({ bytes, filename: 'never', fields: { uploadDate: undefined } });
    assert.ok(Date.parse((await opened.ask('HEAD', '/files/future')).fields['last-modified']!) <= Date.now());
    const { status, fields } = await opened.ask('HEAD', '/files/never');
    assert.deepEqual([status, fields['last-modified']], [200, undefined]);
  }));
});

describe('a path', () => {
  test('names files with slashes, spaces and any script, percent-encoded; in absolute form too', () => withGateway(async (opened) => {
    const names = ['a/b/c d.mp4', '日本語 movie 🎬.mp4', 'q"uote\\back.bin', '100%.mp4', 'a?b#c', '..', '../etc/passwd', 'a//b', '+', 'name[$ne]'];
    for (const [i, filename] of names.entries()) await opened.opened.plant({ bytes: patternBytes(50 + i), filename });
    for (const [i, filename] of names.entries()) {
      for (const path of [`/files/${encodeURIComponent(filename)}`, `/files/${filename.split('/').map(encodeURIComponent).join('/')}`, `/b/fs/name/${encodeURIComponent(filename)}`]) {
        const answer = await opened.ask('GET', path);
        assert.deepEqual([answer.status, answer.body.length], [200, 50 + i], path);
      }
    }
    const client = opened.client();
    client.send(requestHead('GET', 'http://localhost/files/100%25.mp4'));
    assert.equal((await client.answer()).status, 200);
    client.send(requestHead('GET', `/files/${Buffer.from('日本語').toString('latin1')}`));
    assert.equal((await client.answer()).status, 400);
    client.destroy();
  }));

  test('that does not decode, or has a null byte, is 400 bad_name', () => withGateway(async (opened) => {
    for (const path of ['/files/%', '/files/%zz', '/files/%ff', '/files/%c0%af', '/files/a%00b', '/b/%ff/name/x', '/db/%00/files/x', '/b/fs/id/i:x', '/b/fs/id/u:12', '/db/a.b/files/x']) {
      const answer = await opened.ask('GET', path);
      assert.deepEqual([answer.status, jsonOf(answer)['code']], [400, 'bad_name'], path);
    }
  }));

  test('that names nothing is 404, a hundred times at once, and the gateway lives (P8; 15.5.5)', () => withGateway(async (opened) => {
    const paths = ['/files/no-such-file', '/files/', '/b/fs/id/000000000000000000000001', '/b/none/name/x', '/nothing', '/b/fs/files/i:5', '/files'];
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => opened.ask('GET', paths[i % paths.length]!)));
    for (const answer of answers) assert.deepEqual([answer.status, jsonOf(answer)['code']], [404, 'not_found']);
    const plain = await opened.ask('GET', '/files/none', { Accept: 'text/html,*/*' });
    assert.match(plain.fields['content-type']!, /^text\/plain/);
    const head = await opened.ask('HEAD', '/files/none');
    assert.deepEqual([head.status, head.body.length], [404, 0]);
    assert.deepEqual(opened.events, []);
  }));

  test('leads to other databases and buckets', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes: patternBytes(10) }, 'pics.small');
    assert.equal((await opened.ask('GET', '/b/pics.small/name/movie.mp4')).status, 200);
    assert.equal((await opened.ask('GET', '/db/test/b/pics.small/name/movie.mp4')).status, 200);
    assert.equal((await opened.ask('GET', '/db/other/b/pics.small/name/movie.mp4')).status, 404);
  }));

  test('answers 405 with Allow for methods it does not have, and OPTIONS (15.5.6, 9.3.7)', () => planted(async (opened, id) => {
    const table = [['/files/movie.mp4', 'GET, HEAD, PUT, OPTIONS'], [`/b/fs/id/${id}`, 'GET, HEAD, OPTIONS'], ['/b/fs/files', 'GET, HEAD, POST, OPTIONS'], [`/b/fs/files/${id}`, 'GET, HEAD, PATCH, DELETE, OPTIONS'], ['/', 'GET, HEAD, OPTIONS']] as const;
    for (const [path, allow] of table) {
      const answer = await opened.ask('TRACE', path);
      assert.deepEqual([answer.status, answer.fields['allow']], [405, allow]);
      const options = await opened.ask('OPTIONS', path);
      assert.deepEqual([options.status, options.fields['allow']], [204, allow]);
    }
  }));
});

describe('a name', () => {
  test('is its newest revision, or the one asked for', () => withGateway(async (opened) => {
    for (const [i, date] of [30, 10, 20].entries()) await opened.opened.plant({ bytes: patternBytes(i + 1), fields: { uploadDate: new DateTime(date) } });
    for (const [query, length] of [['', 1], ['?revision=-1', 1], ['?revision=-2', 3], ['?revision=0', 2], ['?revision=2', 1]] as const) {
      assert.equal((await opened.ask('GET', `/files/movie.mp4${query}`)).body.length, length, query);
    }
    assert.equal((await opened.ask('GET', '/files/movie.mp4?revision=3')).status, 404);
    for (const query of ['?revision=x', '?revision=1.5', '?revision=']) assert.equal((await opened.ask('GET', `/files/movie.mp4${query}`)).status, 400, query);
  }));
});

describe('a type', () => {
  test('that can run scripts is saved and sandboxed, also where showing is asked for', () => withGateway(async (opened) => {
    for (const filename of ['a.html', 'a.svg', 'a.js', 'a.xml']) {
      await opened.opened.plant({ bytes: patternBytes(5), filename });
      const { fields } = await opened.ask('GET', `/files/${filename}?inline=1`);
      assert.match(fields['content-disposition']!, /^attachment;/);
      assert.equal(fields['content-security-policy'], "default-src 'none'; sandbox");
      assert.equal(fields['x-content-type-options'], 'nosniff');
    }
  }));

  test('is the stored one, in the document or in its metadata, and download saves it', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes: patternBytes(5), filename: 'a', fields: { contentType: 'video/webm' } });
    await opened.opened.plant({ bytes: patternBytes(5), filename: 'b', fields: { metadata: Document.of({ contentType: 'audio/mpeg' }) } });
    assert.equal((await opened.ask('GET', '/files/a')).fields['content-type'], 'video/webm');
    assert.equal((await opened.ask('GET', '/files/b')).fields['content-type'], 'audio/mpeg');
    assert.match((await opened.ask('GET', '/files/a?download=1')).fields['content-disposition']!, /^attachment;/);
  }));
});

describe('a corrupt file', () => {
  test('is 500 with id and n before any head of success, for GET, HEAD and ranges; told once (P9)', () => withGateway(async (opened) => {
    const id = await opened.opened.plant({ bytes, chunks: () => [] });
    for (const [method, fields] of [['GET', {}], ['HEAD', {}], ['GET', range('bytes=0-9')], ['GET', {}]] as const) {
      const answer = await opened.ask(method, '/files/movie.mp4', fields);
      assert.equal(answer.status, 500);
      if (method === 'HEAD') continue;
      const { code, id: told, n, detail } = jsonOf(answer);
      assert.deepEqual([code, told, n, detail], ['corrupt_file', FileId.of(id).text, 0, 'chunk 0 of 4 is missing']);
    }
    assert.equal(opened.events.length, 1);
    assert.deepEqual([opened.events[0]!.fields['id'], opened.events[0]!.fields['n']], [FileId.of(id).text, 0]);
  }));

  test('whose fault comes after the head is a cut connection, never other bytes or a clean end', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes, chunkSize: 1000, chunks: (usual) => usual.filter((_, n) => n !== 990) });
    const client = opened.client();
    client.send(requestHead('GET', '/files/movie.mp4'));
    const answer = await client.answer();
    assert.deepEqual([answer.status, answer.fields['content-length'], answer.whole], [200, String(N), false]);
    const received = concatBytes([answer.body, client.received]);
    assert.ok(received.length <= 990 * 1000);
    assert.deepEqual(received, bytes.subarray(0, received.length));
    assert.equal(opened.events[0]!.fields['n'], 990);
    assert.deepEqual((await opened.ask('GET', '/files/movie.mp4', range('bytes=991000-'))).body, bytes.subarray(991000));
  }, { windowBytes: 65_536 }));

  test('whose document is broken is 500, and is listed with its fault', () => withGateway(async (opened) => {
    await opened.opened.plant({ bytes, fields: { chunkSize: 0 } });
    assert.equal(jsonOf(await opened.ask('GET', '/files/movie.mp4'))['code'], 'corrupt_file');
    const { files } = jsonOf(await opened.ask('GET', '/b/fs/files')) as { files: { fault: string }[] };
    assert.match(files[0]!.fault, /chunk size/);
  }));
});
