// Uploads, deleting and lists over a bare socket (gateway.md, sections 3 and 7; RFC 9110, 9.3.4 for PUT, 13.1.2 for conditions; RFC 9530 for digests).

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { patternBytes } from '../support/file-store.ts';
import { jsonOf, requestHead, withGateway } from './gateway-for-test.ts';
import type { Fields, GatewayForTest, RawAnswer } from './gateway-for-test.ts';

const bytes = patternBytes(700_001);
const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('base64');

/** Nothing of any upload is in the bucket. */
async function assertEmpty({ opened }: GatewayForTest): Promise<void> {
  assert.deepEqual([await opened.count('fs.files'), await opened.count('fs.chunks'), await opened.count('gridfsLeftovers', 'local')], [0, 0, 0]);
}

/** Waits until a condition holds; the test runner's limit of time ends what never does. */
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

describe('PUT', () => {
  test('stores the bytes and answers 201 with Location, ETag and digest', () => withGateway(async (opened) => {
    const answer = await opened.ask('PUT', '/b/fs/name/dir/my%20movie.mp4', { 'Content-Type': 'video/mp4', 'X-Chunk-Size': '65536' }, bytes);
    assert.equal(answer.status, 201);
    const { id, filename, length, chunkSize, contentType, etag, url, sha256 } = jsonOf(answer);
    assert.deepEqual([filename, length, chunkSize, contentType], ['dir/my movie.mp4', bytes.length, 65536, 'video/mp4']);
    assert.equal(answer.fields['location'], `/b/fs/id/${String(id)}`);
    assert.equal(answer.fields['location'], url);
    assert.equal(answer.fields['etag'], etag);
    assert.equal(answer.fields['repr-digest'], `sha-256=:${digestOf(bytes)}:`);
    assert.equal(sha256, createHash('sha256').update(bytes).digest('hex'));
    const read = await opened.ask('GET', answer.fields['location']);
    assert.deepEqual(read.body, bytes);
    assert.equal(read.fields['etag'], etag);
    assert.equal(read.fields['repr-digest'], answer.fields['repr-digest']);
  }));

  test('under /files stores too, in another database where the path says so, and makes revisions', () => withGateway(async (opened) => {
    for (const length of [3, 2, 0]) assert.equal((await opened.ask('PUT', '/files/x', { 'Content-Length': String(length) }, bytes.subarray(0, length))).status, 201);
    assert.equal((await opened.ask('PUT', '/db/other/files/x', {}, bytes.subarray(0, 9))).fields['location']?.startsWith('/db/other/b/fs/id/'), true);
    assert.deepEqual(await Promise.all(['/files/x', '/files/x?revision=0', '/db/other/files/x'].map(async (path) => (await opened.ask('GET', path)).body.length)), [0, 3, 9]);
  }));

  test('takes a body of unknown length, in pieces', () => withGateway(async (opened) => {
    const client = opened.client();
    client.send(requestHead('PUT', '/files/x', { 'Transfer-Encoding': 'chunked' }));
    for (let at = 0; at < bytes.length; at += 100_000) {
      const piece = bytes.subarray(at, at + 100_000);
      client.send(`${piece.length.toString(16)}\r\n`, piece);
      client.send('\r\n');
    }
    client.send('0\r\n\r\n');
    assert.equal((await client.answer()).status, 201);
    client.destroy();
    assert.deepEqual((await opened.ask('GET', '/files/x')).body, bytes);
  }));

  test('that a client cuts leaves nothing: no file, no chunk, no marker', () => withGateway(async (opened) => {
    const client = opened.client();
    client.send(requestHead('PUT', '/files/x', { 'Content-Length': '99000000', 'X-Chunk-Size': '100000' }), concatBytes(Array.from({ length: 6 }, () => bytes)));
    await until(async () => (await opened.opened.count('fs.chunks')) > 10);
    client.destroy();
    await until(async () => (await opened.opened.count('fs.chunks')) === 0 && (await opened.opened.count('gridfsLeftovers', 'local')) === 0);
    await assertEmpty(opened);
    assert.deepEqual(opened.events, []);
  }));

  test('that sends nothing for the stall time is cut and leaves nothing', () => withGateway(async (opened) => {
    const keepsAlive = setInterval(() => undefined, 1000);
    const client = opened.client();
    client.send(requestHead('PUT', '/files/x', { 'Content-Length': '99000000', 'X-Chunk-Size': '100000' }), bytes);
    await client.closed();
    await until(async () => (await opened.opened.count('gridfsLeftovers', 'local')) === 0 && opened.gateway.counters.aborts === 1);
    clearInterval(keepsAlive);
    await assertEmpty(opened);
  }, { stallMs: 300 }));

  test('whose digest is another is 400 and leaves nothing; a right one is stored', () => withGateway(async (opened) => {
    const wrong = await opened.ask('PUT', '/files/x', { 'Repr-Digest': `sha-256=:${digestOf(bytes.subarray(1))}:`, 'X-Chunk-Size': '10000' }, bytes);
    assert.deepEqual([wrong.status, jsonOf(wrong)['code']], [400, 'digest_mismatch']);
    await assertEmpty(opened);
    assert.equal((await opened.ask('PUT', '/files/x', { 'Repr-Digest': 'sha-256=:abc:' }, bytes)).status, 400);
    assert.equal((await opened.ask('PUT', '/files/x', { 'Repr-Digest': `md5=:abc=:, sha-256=:${digestOf(bytes)}:` }, bytes)).status, 201);
  }));

  test('that is declared too large is 413 before its body is asked for; one that becomes so is cut', () => withGateway(async (opened) => {
    const client = opened.client();
    client.send(requestHead('PUT', '/files/x', { 'Content-Length': '1001', Expect: '100-continue' }));
    const answer = await client.answer();
    assert.deepEqual([answer.status, jsonOf(answer)['code'], answer.fields['connection']], [413, 'too_large', 'close']);
    client.destroy();
    const growing = opened.client();
    growing.send(requestHead('PUT', '/files/x', { 'Transfer-Encoding': 'chunked' }));
    growing.send('7d0\r\n', patternBytes(2000));
    assert.equal((await growing.answer()).status, 413);
    growing.destroy();
    await assertEmpty(opened);
  }, { uploadBytesMax: 1000 }));

  test('is told to go on where it asks first (10.1.1)', () => withGateway(async (opened) => {
    const client = opened.client();
    client.send(requestHead('PUT', '/files/x', { 'Content-Length': '5', Expect: '100-continue' }));
    await client.has('HTTP/1.1 100 Continue\r\n\r\n'.length);
    client.send('', patternBytes(5));
    assert.equal((await client.answer()).status, 201);
    client.destroy();
  }));

  test('holds its conditions: If-None-Match: * refuses a second revision, If-Match one that is not the newest (13.1.1, 13.1.2)', () => withGateway(async (opened) => {
    const first = await opened.ask('PUT', '/files/x', { 'If-None-Match': '*' }, bytes.subarray(0, 5));
    assert.equal(first.status, 201);
    const again = await opened.ask('PUT', '/files/x', { 'If-None-Match': '*' }, bytes.subarray(0, 5));
    assert.deepEqual([again.status, jsonOf(again)['code']], [412, 'precondition_failed']);
    assert.equal((await opened.ask('PUT', '/files/x', { 'If-Match': '"other"' }, bytes.subarray(0, 5))).status, 412);
    assert.equal((await opened.ask('PUT', '/files/x', { 'If-Match': first.fields['etag']! }, bytes.subarray(0, 6))).status, 201);
    assert.equal((await opened.ask('PUT', '/files/x', { 'If-Match': first.fields['etag']! }, bytes.subarray(0, 7))).status, 412);
    assert.equal((await opened.ask('PUT', '/files/new', { 'If-Match': '*' }, bytes.subarray(0, 7))).status, 412);
    assert.equal(await opened.opened.count('fs.files'), 2);
  }));

  test('refuses what it cannot mean: parts, encodings, chunk sizes, names', () => withGateway(async (opened) => {
    const refused: readonly (readonly [string, Fields, number])[] = [
      ['/files/x', { 'Content-Range': 'bytes 0-1/2' }, 400], ['/files/x', { 'Content-Encoding': 'gzip' }, 415], ['/files/x', { 'X-Chunk-Size': '1023' }, 400], ['/files/x', { 'X-Chunk-Size': 'big' }, 400],
      ['/files/x', { 'X-Chunk-Size': '16000000' }, 400], ['/files/', {}, 400], ['/b/fs/name/', {}, 400], ['/files/a%00', {}, 400],
    ];
    for (const [path, fields, status] of refused) assert.equal((await opened.ask('PUT', path, fields, bytes.subarray(0, 10))).status, status, JSON.stringify([path, fields]));
    await assertEmpty(opened);
  }));

  test('from a page of another site is 403; from the own page or a program it is taken', () => withGateway(async (opened) => {
    const foreign: readonly Fields[] = [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }, { Origin: 'http://evil.example' }, { Origin: 'null' }];
    for (const fields of foreign) assert.equal((await opened.ask('PUT', '/files/x', fields, bytes.subarray(0, 5))).status, 403);
    await assertEmpty(opened);
    for (const fields of [{ 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'none' }, { Origin: 'http://localhost' }, {}]) {
      assert.equal((await opened.ask('PUT', '/files/x', fields, bytes.subarray(0, 5))).status, 201);
    }
  }));
});

test('requests for another host are 421: a foreign name may have been made to point here', () => withGateway(async (opened) => {
  for (const host of ['evil.example', 'evil.example:8027', '10.0.0.1', 'localhost.evil.example', '127.0.0.1.evil.example']) assert.equal((await opened.ask('GET', '/', { Host: host })).status, 421, host);
  for (const host of ['localhost', 'localhost:8027', '127.0.0.1:1', '[::1]:8027', 'frond.localhost']) assert.equal((await opened.ask('GET', '/healthz', { Host: host })).status, 200, host);
}));

describe('POST of a form', () => {
  const form = (parts: readonly (readonly [string, string | undefined, Uint8Array | string])[]): Uint8Array => concatBytes([
    ...parts.flatMap(([name, filename, content]) => [
      Buffer.from(`--XX\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: video/webm`}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n'),
    ]),
    Buffer.from('--XX--\r\n'),
  ]);
  const type = { 'Content-Type': 'multipart/form-data; boundary=XX' };

  test('stores its files in order, with the fields before each as metadata', () => withGateway(async (opened) => {
    const answer = await opened.ask('POST', '/b/fs/files', type, form([['title', undefined, 'One'], ['file', 'a.webm', bytes], ['more', undefined, 'ü'], ['file', 'ü.webm', bytes.subarray(0, 10)]]));
    assert.equal(answer.status, 201);
    const { files } = jsonOf(answer) as { files: { filename: string; url: string; metadata: Record<string, string>; contentType: string }[] };
    assert.deepEqual(files.map(({ filename, contentType }) => [filename, contentType]), [['a.webm', 'video/webm'], ['ü.webm', 'video/webm']]);
    assert.deepEqual(files.map(({ metadata }) => [metadata['title'], metadata['more']]), [['One', undefined], ['One', 'ü']]);
    assert.deepEqual((await opened.ask('GET', files[0]!.url)).body, bytes);
    assert.deepEqual((await opened.ask('GET', files[1]!.url)).body, bytes.subarray(0, 10));
  }));

  test('that ends early, has no file, or is no form is refused and leaves nothing', () => withGateway(async (opened) => {
    const whole = form([['file', 'a.webm', bytes]]);
    assert.equal((await opened.ask('POST', '/b/fs/files', { ...type, 'X-Chunk-Size': '10000' }, whole.subarray(0, whole.length - 100))).status, 400);
    assert.equal((await opened.ask('POST', '/b/fs/files', type, form([['title', undefined, 'One']]))).status, 400);
    assert.equal((await opened.ask('POST', '/b/fs/files', type, bytes.subarray(0, 1000))).status, 400);
    assert.equal((await opened.ask('POST', '/b/fs/files', { 'Content-Type': 'multipart/form-data' }, whole)).status, 415);
    assert.equal((await opened.ask('POST', '/b/fs/files', { 'Content-Type': 'application/json' }, whole)).status, 415);
    assert.equal((await opened.ask('POST', '/b/fs/files', type, form([['file', '', bytes]]))).status, 400);
    await assertEmpty(opened);
    assert.deepEqual(opened.events, []);
  }));
});

describe('lists and documents', () => {
  test('give the files page by page, with metadata as it is', () => withGateway(async (opened) => {
    for (let i = 0; i < 7; i++) await opened.opened.upload(`file ${i}.${i % 2 === 0 ? 'mp4' : 'txt'}`, patternBytes(i * 10));
    await opened.opened.upload('file 3.txt', patternBytes(5));
    const names: string[] = [];
    let after = '';
    do {
      const page = jsonOf(await opened.ask('GET', `/b/fs/files?sort=filename&limit=3${after}`)) as { files: { filename: string; revisions: number; metadata: Record<string, string> }[]; next?: string };
      names.push(...page.files.map(({ filename, revisions }) => `${filename}:${revisions}`));
      assert.match(page.files[0]!.metadata['sha256']!, /^[0-9a-f]{64}$/);
      after = page.next === undefined ? '' : `&after=${page.next}`;
    } while (after !== '');
    assert.deepEqual(names, ['file 0.mp4:1', 'file 1.txt:1', 'file 2.mp4:1', 'file 3.txt:2', 'file 3.txt:2', 'file 4.mp4:1', 'file 5.txt:1', 'file 6.mp4:1']);
    const videos = jsonOf(await opened.ask('GET', '/b/fs/files?type=video/&prefix=file&sort=-length')) as { files: { filename: string }[] };
    assert.deepEqual(videos.files.map(({ filename }) => filename), ['file 6.mp4', 'file 4.mp4', 'file 2.mp4', 'file 0.mp4']);
    for (const query of ['sort=md5', 'limit=0', 'limit=x', 'after=%25']) assert.equal((await opened.ask('GET', `/b/fs/files?${query}`)).status, 400, query);
    assert.deepEqual(jsonOf(await opened.ask('GET', '/b/none/files')), { files: [] });
  }));

  test('are found by id, checked, and deleted under If-Match', () => withGateway(async (opened) => {
    const { id } = await opened.opened.upload('x', bytes, { chunkSize: 10000 });
    const path = `/b/fs/files/${id.text}`;
    const document = await opened.ask('GET', path);
    assert.deepEqual([jsonOf(document)['length'], jsonOf(document)['revisions']], [bytes.length, 1]);
    const check = jsonOf(await opened.ask('GET', `${path}/check`));
    assert.deepEqual([check['sound'], check['chunksFound'], check['sha256Agrees']], [true, 71, true]);
    assert.equal((await opened.ask('DELETE', path, { 'If-Match': '"other"' })).status, 412);
    assert.equal((await opened.ask('DELETE', path, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
    assert.equal((await opened.ask('DELETE', path, { 'If-Match': document.fields['etag']! })).status, 204);
    assert.equal((await opened.ask('DELETE', path)).status, 404);
    await assertEmpty(opened);
  }));
});

describe('PATCH of a file', () => {
  test('renames it and merges its metadata, under If-Match (RFC 7396; 13.1.1)', () => withGateway(async (opened) => {
    const { id, version } = await opened.opened.upload('old.mp4', bytes.subarray(0, 100));
    const path = `/b/fs/files/${id.text}`;
    const json = { 'Content-Type': 'application/merge-patch+json' };
    const patch = (body: unknown, fields: Fields = json): Promise<RawAnswer> => opened.ask('PATCH', path, fields, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
    const changed = await patch({ filename: 'new.mp4', metadata: { title: 'A film' } }, { ...json, 'If-Match': `"${version}"` });
    assert.deepEqual([changed.status, changed.fields['etag'], jsonOf(changed)['filename'], (jsonOf(changed)['metadata'] as Record<string, string>)['title']], [200, `"${version}"`, 'new.mp4', 'A film']);
    assert.equal((await opened.ask('GET', '/files/new.mp4')).body.length, 100);
    assert.equal((await opened.ask('GET', '/files/old.mp4')).status, 404);
    assert.equal((await patch({ filename: 'x' }, { ...json, 'If-Match': '"other"' })).status, 412);
    assert.equal((await patch({ filename: 'x' }, { ...json, 'Sec-Fetch-Site': 'cross-site' })).status, 403);
    assert.equal((await patch({ filename: 'x' }, { 'Content-Type': 'text/plain' })).status, 415);
    for (const wrong of ['{', '[]', '5', { length: 5 }, { filename: 5 }, { filename: '' }, { metadata: [] }, { metadata: { sha256: 'x' } }, { metadata: { a: { $date: 'never' } } }]) assert.equal((await patch(wrong)).status, 400, JSON.stringify(wrong));
    assert.equal((await opened.ask('PATCH', '/b/fs/files/s:none', json, Buffer.from('{}'))).status, 404);
    assert.equal((await opened.ask('GET', '/files/new.mp4')).status, 200);
  }));
});

test('the page lists and plays without its script, escapes what users chose, and has the headers of its kind', () => withGateway(async (opened) => {
  const evil = `"><script>alert(1)</script>'&.mp4`;
  const { id } = await opened.opened.upload(evil, bytes, { contentType: 'video/mp4' });
  const list = await opened.ask('GET', '/');
  const html = Buffer.from(list.body).toString('utf8');
  assert.match(list.fields['content-type']!, /^text\/html/);
  assert.match(list.fields['content-security-policy']!, /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'; base-uri 'none'; form-action 'self'$/);
  assert.equal(html.includes('<script>alert'), false);
  assert.ok(html.includes('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;.mp4'));
  assert.ok(html.includes(`href="?play=${id.text}#player"`));
  const player = Buffer.from((await opened.ask('GET', `/?play=${id.text}`)).body).toString('utf8');
  assert.ok(player.includes(`<video class="stage" controls playsinline preload="metadata" src="/b/fs/id/${id.text}"`));
  for (const [path, type] of [['/assets/app.js', 'text/javascript; charset=utf-8'], ['/assets/app.css', 'text/css; charset=utf-8'], ['/favicon.ico', 'image/svg+xml']] as const) {
    const file = await opened.ask('GET', path);
    assert.deepEqual([file.status, file.fields['content-type']], [200, type]);
    assert.equal((await opened.ask('GET', path, { 'If-None-Match': file.fields['etag']! })).status, 304);
  }
  assert.match(Buffer.from((await opened.ask('GET', '/db/other/')).body).toString('utf8'), /No files here yet/);
  assert.equal(jsonOf(await opened.ask('GET', '/healthz'))['status'], 'ok');
}));
