// What hostile, careless and broken clients send, as bytes on a socket: framing that two readers could take apart differently, heads that never end,
// names that mean something elsewhere, forms and resumable uploads at their edges. Whatever comes, the answer has one meaning, nothing is left
// behind, the operator is told of no fault, and the next request is served.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { patternBytes } from '../support/file-store.ts';
import { jsonOf, requestHead, withGateway } from './gateway-for-test.ts';
import type { Fields, GatewayForTest, RawAnswer } from './gateway-for-test.ts';

const bytes = patternBytes(300_000);
const utf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

async function served(opened: GatewayForTest): Promise<void> {
  const answer = await opened.ask('GET', '/files/film.mp4', { Range: 'bytes=-3' });
  assert.deepEqual([answer.status, answer.body], [206, bytes.subarray(-3)]);
  assert.deepEqual(opened.events, []);
}

/** Runs a test with one film in the bucket, and sees that the gateway is as well afterwards as before. */
const withFilm = (work: (opened: GatewayForTest) => Promise<void>, limits: Parameters<typeof withGateway>[1] = {}): Promise<void> => withGateway(async (opened) => {
  await opened.opened.upload('film.mp4', bytes);
  await work(opened);
  await served(opened);
}, limits);

/** What comes for one lump of bytes: answers until the connection ends, or `count` of them. */
async function answers(opened: GatewayForTest, head: string, body: Uint8Array, count: number): Promise<readonly RawAnswer[]> {
  const client = opened.client();
  client.send(head, body);
  const found: RawAnswer[] = [];
  for (let i = 0; i < count; i++) {
    const answer = await client.answer();
    if (answer.status === 0) break;
    found.push(answer);
  }
  client.destroy();
  return found;
}

describe('one connection', () => {
  test('carries requests that were sent together, each answered in its turn and to the byte (9112, 9.3.2)', () => withFilm(async (opened) => {
    const client = opened.client();
    const asked = Array.from({ length: 30 }, (_, i) => [
      requestHead('GET', '/files/film.mp4', { Range: `bytes=${i * 1000}-${i * 1500}` }), requestHead('HEAD', '/files/film.mp4'), requestHead('GET', '/files/none'), requestHead('GET', '/files/film.mp4', { Range: 'bytes=900000-' }),
    ].join(''));
    client.send(asked.join(''));
    for (let i = 0; i < 30; i++) {
      const part = await client.answer();
      assert.deepEqual([part.status, part.body], [206, bytes.subarray(i * 1000, i * 1500 + 1)]);
      const head = await client.answer({ toHead: true });
      assert.deepEqual([head.status, head.fields['content-length'], (await client.answer()).status, (await client.answer()).status], [200, '300000', 404, 416]);
    }
    client.destroy();
  }));

  test('goes on after every refusal that says nothing of its framing', () => withFilm(async (opened) => {
    const client = opened.client();
    const refusals: readonly (readonly [string, string, Fields, number])[] = [
      ['GET', '/files/none', {}, 404], ['GET', '/nowhere', {}, 404], ['POST', '/files/film.mp4', {}, 405], ['GET', '/files/%ff', {}, 400], ['GET', '/files/film.mp4?revision=x', {}, 400],
      ['GET', '/files/film.mp4', { 'If-Match': '"other"' }, 412], ['GET', '/files/film.mp4', { Range: 'bytes=300000-' }, 416], ['GET', '/b/fs/id/nonsense', {}, 404], ['GET', '/', { Host: 'evil.example' }, 421],
      ['DELETE', '/b/fs/files/0123456789abcdef01234567', {}, 404], ['PUT', '/files/x', { 'X-Chunk-Size': '1', 'Content-Length': '0' }, 400], ['PATCH', '/b/fs/uploads/0123456789abcdef01234567', {}, 412], ['GET', '/files/film.mp4', { Expect: 'miracles' }, 417],
    ];
    for (const [method, target, fields, status] of refusals) {
      client.send(requestHead(method, target, fields));
      assert.equal((await client.answer()).status, status, `${method} ${target}`);
    }
    client.send(requestHead('GET', '/files/film.mp4', { Range: 'bytes=0-0' }));
    assert.equal((await client.answer()).status, 206);
    client.destroy();
  }));

  test('of HEAD never has a body, whatever the path, so that what follows is read right (9.3.2)', () => withFilm(async (opened) => {
    const id = jsonOf(await opened.ask('GET', '/b/fs/files'))['files'] as { readonly id: string }[];
    const client = opened.client();
    for (const target of ['/files/film.mp4', '/files/none', '/', '/status', '/healthz', '/metrics', '/b/fs/files', `/b/fs/files/${id[0]!.id}`, `/b/fs/files/${id[0]!.id}/check`, '/assets/app.css', '/favicon.ico', '/nowhere', '/files/%ff']) {
      client.send(requestHead('HEAD', target) + requestHead('GET', '/files/film.mp4', { Range: 'bytes=7-9' }));
      await client.answer({ toHead: true });
      assert.deepEqual((await client.answer()).body, bytes.subarray(7, 10), target);
    }
    client.destroy();
  }));

  test('that takes a minute for its head is answered 408 and closed; others wait for nothing', () => withFilm(async (opened) => {
    const client = opened.client();
    client.send('GET /files/film.mp4 HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const dribble = setInterval(() => client.socket.write('x'), 20);
    assert.equal((await client.answer()).status, 408);
    await client.closed();
    clearInterval(dribble);
  }, { headMs: 300 }));
});

describe('a request whose end two readers could see differently (9112, 6.3 and 11.2)', () => {
  const hidden = 'DELETE /b/fs/files/film HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 50']],
    ['a list of lengths', ['Content-Length: 5, 50']],
    ['a signed length', ['Content-Length: +5']],
    ['a length in hex', ['Content-Length: 0x5']],
    ['chunks twice', ['Transfer-Encoding: chunked, chunked']],
    ['chunks, then another coding', ['Transfer-Encoding: chunked, identity']],
    ['a coding of another name', ['Transfer-Encoding: xchunked']],
    ['a coding behind a tab', ['Transfer-Encoding:\tchunked, x']],
    ['a folded coding', ['Transfer-Encoding:', ' chunked']],
    ['a blank before the colon', ['Transfer-Encoding : chunked']],
    ['a bare carriage return', ['X: a\rTransfer-Encoding: chunked']],
    ['a null byte', ['Content-Length: 5\u0000']],
  ];
  for (const [name, fields] of cases) test(`${name}: refused and closed, what follows is not looked at`, () => withFilm(async (opened) => {
    const found = await answers(opened, `PUT /files/smuggled HTTP/1.1\r\nHost: localhost\r\n${fields.join('\r\n')}\r\n\r\n0\r\n\r\n${hidden}`, new Uint8Array(0), 3);
    assert.ok(found.length <= 1 && found.every(({ status }) => status >= 400 && status < 502), `${found.map(({ status }) => status).join(' ')} for ${name}`);
    assert.equal((await opened.ask('GET', '/files/smuggled')).status, 404);
  }));

  test('chunks that are none end the connection, and nothing of the file stays', () => withFilm(async (opened) => {
    for (const body of ['zz\r\nabc\r\n0\r\n\r\n', '3\r\nabcdef\r\n0\r\n\r\n', '-1\r\na\r\n0\r\n\r\n', 'fffffffffffffffff\r\na\r\n', '3\nabc\n0\n\n', '3\r\nabc\r\n']) {
      const client = opened.client();
      client.send(`PUT /files/chunky HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
      client.socket.end();
      const { status } = await client.answer();
      assert.ok(status === 0 || status === 400, `${status} for ${JSON.stringify(body)}`);
      await client.closed();
    }
    assert.deepEqual((jsonOf(await opened.ask('GET', '/b/fs/files'))['files'] as { readonly filename: string }[]).map(({ filename }) => filename), ['film.mp4']);
  }));

  test('a body that nobody asked for is not taken for a request', () => withFilm(async (opened) => {
    const found = await answers(opened, requestHead('GET', '/files/none', { 'Content-Length': String(hidden.length) }) + hidden + requestHead('GET', '/files/film.mp4', { Range: 'bytes=0-0' }), new Uint8Array(0), 3);
    assert.ok(found.map(({ status }) => status).every((status, i) => status === [404, 206][i]), found.map(({ status }) => status).join(' '));
  }));
});

test('paths mean names of files and nothing else (gateway.md, section 3 "Names")', () => withFilm(async (opened) => {
  const paths: readonly (readonly [string, number])[] = [
    ['/files/../../etc/passwd', 404], ['/files/..%2f..%2fetc%2fpasswd', 404], ['/files/%2e%2e/film.mp4', 404], ['/files//film.mp4', 404], ['/files/./film.mp4', 404], ['/files/film.mp4/', 404], ['/files/', 404], ['/files', 404], ['//files/film.mp4', 404],
    ['/assets/../gateway.js', 404], ['/assets/%2e%2e%2fpage.js', 404], ['/assets/..%5c..%5cpackage.json', 404], ['/assets/app.css%00.js', 400], ['/assets/', 404],
    ['/files/film.mp4%00', 400], ['/files/%c0%ae%c0%ae', 400], ['/files/%', 400], ['/files/%zz', 400], ['/files/%ed%a0%80', 400], ['/files/%u0041', 400],
    ['/db//files/film.mp4', 400], ['/db/a%2fb/files/x', 400], ['/db/a.b/files/x', 400], ['/db/$cmd/files/x', 400], ['/db/a%20b/files/x', 400], [`/db/${'x'.repeat(70)}/files/x`, 400],
    ['/b/a%00b/files', 400], ['/b//files', 400], ['/b/fs/files?limit=-1', 400], ['/b/fs/files?limit=1e9', 400], ['/b/fs/files?sort=$where', 400], ['/b/fs/files?after=!!', 400], ['/b/fs/files?prefix[$ne]=x', 200],
    ['/b/fs/id/i:1e99', 400], ['/b/fs/id/j:{', 400], ['/b/fs/id/j:{"$gt":""}', 400], ['/b/fs/id/u:1', 400], ['/b/fs/id/', 400], ['/files/film.mp4?revision=9999999999', 400], ['/files/film.mp4?revision=0x0', 400],
  ];
  for (const [path, status] of paths) {
    const answer = await opened.ask('GET', path);
    assert.ok(answer.status === status || (status === 400 && answer.status === 404), `${path} is ${answer.status}, not ${status}`);
    assert.equal(/root:|module|stack/.test(Buffer.from(answer.body).toString()), false, path);
  }
}));

test('names in any script, with any sign, go in and come out as they are', () => withFilm(async (opened) => {
  const names = ['日本語 映画 🎬.mp4', 'e\u0301 is not \u00e9.txt', '\u202egnp.exe', 'ـعربي.webm', 'a/b/c', 'a\\b', 'q"uote;filename=x', "it's (100%) *fine*", '..', '.', '-rf', '#?&=+%41', 'line\nfeed\r\nSet-Cookie: a=b', 'tab\there', '\u{10ffff}', 'x'.repeat(1000), ' leading', '<script>alert(1)</script>'];
  for (const [i, name] of names.entries()) {
    const path = `/files/${encodeURIComponent(name)}`;
    const put = await opened.ask('PUT', path, { 'Content-Type': 'video/mp4' }, utf8(`file ${i}`));
    assert.equal(put.status, 201, name);
    const answer = await opened.ask('GET', path);
    assert.deepEqual([answer.status, Buffer.from(answer.body).toString(), answer.fields['set-cookie']], [200, `file ${i}`, undefined], name);
    assert.equal(jsonOf(await opened.ask('GET', put.fields['location']!.replace('/id/', '/files/')))['filename'], name);
  }
  const page = await opened.ask('GET', '/');
  assert.equal(Buffer.from(page.body).toString().includes('<script>alert'), false);
}));

describe('a body that is announced with Expect: 100-continue (10.1.1)', () => {
  test('is not asked for where the answer is known without it', () => withFilm(async (opened) => {
    for (const [target, fields, status] of [['/files/x', { 'X-Chunk-Size': '1' }, 400], ['/files/%ff', {}, 400], ['/healthz', {}, 405], ['/files/film.mp4', { 'If-None-Match': '*' }, 412], ['/files/x', { 'Sec-Fetch-Site': 'cross-site' }, 403]] as const) {
      const client = opened.client();
      client.send(requestHead('PUT', target, { ...fields, 'Content-Length': '10', Expect: '100-continue' }));
      await client.has(15);
      assert.match(Buffer.from(client.received).toString('latin1'), new RegExp(`^HTTP/1.1 ${status} `), target);
      client.destroy();
    }
  }));

  test('is taken, whole or in drips', () => withFilm(async (opened) => {
    const client = opened.client();
    client.send(requestHead('PUT', '/files/asked', { 'Content-Length': '5', Expect: '100-continue' }));
    await client.has(15);
    assert.match(Buffer.from(client.received).toString('latin1'), /^HTTP\/1.1 100 Continue\r\n\r\n$/);
    for (const byte of utf8('hello')) client.socket.write(Uint8Array.of(byte));
    assert.equal((await client.answer()).status, 201);
    client.destroy();
  }));
});

describe('a form', () => {
  const post = (opened: GatewayForTest, body: Uint8Array | string, type = 'multipart/form-data; boundary=XX'): Promise<RawAnswer> => opened.ask('POST', '/b/fs/files', { 'Content-Type': type }, typeof body === 'string' ? utf8(body) : body);
  const part = (head: string, content: Uint8Array | string): Uint8Array => concatBytes([utf8(`--XX\r\n${head}\r\n\r\n`), typeof content === 'string' ? utf8(content) : content, utf8('\r\n')]);
  const form = (...parts: readonly Uint8Array[]): Uint8Array => concatBytes([...parts, utf8('--XX--\r\n')]);

  test('has files whose bytes look like boundaries, and of no bytes, and with anything before and behind', () => withFilm(async (opened) => {
    const tricky = '\r\n--X\r\n--XY\r\n--\r\n-- XX\r\n\r\n--x';
    const answer = await post(opened, concatBytes([utf8('a preamble\r\n'), form(part('Content-Disposition: form-data; name="a"; filename="tricky.bin"', tricky), part('Content-Disposition: form-data; name="b"; filename="empty.bin"', '')), utf8('an epilogue')]));
    assert.equal(answer.status, 201);
    assert.equal(Buffer.from((await opened.ask('GET', '/files/tricky.bin')).body).toString(), tricky);
    assert.deepEqual((await opened.ask('GET', '/files/empty.bin')).body.length, 0);
  }));

  test('with a quoted boundary, a name in UTF-8 by RFC 5987, a path, and no type of its own', () => withFilm(async (opened) => {
    const body = concatBytes([utf8("--a b\r\nContent-Disposition: form-data; name=x; filename*=utf-8''%e2%82%ac.mp4\r\n\r\neuro\r\n--a b\r\ncontent-disposition: form-data; name=\"y\"; filename=\"C:\\dir\\x.txt\"\r\n\r\ny\r\n--a b--\r\n")]);
    const answer = await post(opened, body, 'multipart/form-data; boundary="a b"');
    assert.equal(answer.status, 201, Buffer.from(answer.body).toString());
    assert.equal(Buffer.from((await opened.ask('GET', '/files/%E2%82%AC.mp4')).body).toString(), 'euro');
  }));

  test('that is none, or that does not end, is refused; nothing of it stays', () => withFilm(async (opened) => {
    const file = part('Content-Disposition: form-data; name="f"; filename="gone"', bytes);
    const bodies: readonly (readonly [string, Uint8Array | string, string?])[] = [
      ['no body', ''], ['only the end', '--XX--\r\n'], ['another boundary', form(file), 'multipart/form-data; boundary=YY'], ['no end', file], ['half a head', '--XX\r\nContent-Disposition: form-da'],
      ['a boundary that is too long', form(file), `multipart/form-data; boundary=${'x'.repeat(5000)}`], ['no boundary', form(file), 'multipart/form-data; x=y'],
    ];
    for (const [name, body, type] of bodies) {
      const { status } = await post(opened, body, type);
      assert.ok(status >= 400 && status < 500, `${name} is ${status}`);
    }
    assert.deepEqual((jsonOf(await opened.ask('GET', '/b/fs/files'))['files'] as unknown[]).length, 1);
  }));
});

describe('a resumable upload', () => {
  const tus: Fields = { 'Tus-Resumable': '1.0.0' };
  const begin = async (opened: GatewayForTest): Promise<string> => (await opened.ask('POST', '/b/fs/uploads', { ...tus, 'Upload-Length': String(bytes.length), 'Upload-Metadata': `filename ${Buffer.from('sent.mp4').toString('base64')}` })).fields['location']!;
  const patch = (opened: GatewayForTest, url: string, body: Uint8Array, fields: Fields): Promise<RawAnswer> => opened.ask('PATCH', url, { ...tus, 'Content-Type': 'application/offset+octet-stream', 'Content-Length': String(body.length), ...fields }, body);
  const at = (offset: number | string): Fields => ({ 'Upload-Offset': String(offset) });
  const offsetOf = async (opened: GatewayForTest, url: string): Promise<string | undefined> => (await opened.ask('HEAD', url, tus)).fields['upload-offset'];

  test('that many send at once is never mixed: each byte is that of its place, whoever wins', () => withFilm(async (opened) => {
    const url = await begin(opened);
    for (let offset = 0; offset < bytes.length; offset = Number(await offsetOf(opened, url))) {
      const results = await Promise.all([1, 2, 3, 4].map((i) => patch(opened, url, bytes.subarray(offset, Math.min(bytes.length, offset + 30_000 * i)), at(offset))));
      assert.ok(results.every(({ status }) => [0, 204, 409, 400, 404].includes(status)), results.map(({ status }) => status).join(' '));
    }
    const { body, fields } = await opened.ask('GET', '/files/sent.mp4');
    assert.ok(Buffer.from(body).equals(bytes));
    assert.equal(fields['repr-digest'], `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`);
    assert.equal(await opened.opened.count('fs.chunks'), 2 * Math.ceil(bytes.length / 261_120));
  }));

  test('goes on at its offset and nowhere else, and takes no more than it said', () => withFilm(async (opened) => {
    const url = await begin(opened);
    assert.equal((await patch(opened, url, bytes.subarray(0, 1000), at(0))).status, 204);
    for (const [offset, status] of [[0, 409], [999, 409], [1001, 409], [bytes.length, 409], ['-1', 400], ['1000x', 400], ['', 400], ['1e3', 400], ['99999999999999999999', 400]] as const) assert.equal((await patch(opened, url, bytes.subarray(0, 10), at(offset))).status, status, String(offset));
    const tooMuch = await patch(opened, url, bytes, at(1000));
    assert.ok([400, 413].includes(tooMuch.status), String(tooMuch.status));
    for (const [fields, status] of [[{ 'Content-Type': 'text/plain' }, 415], [{ 'Tus-Resumable': '0.2.2' }, 412], [{ 'Upload-Checksum': 'crc32 AAAA' }, 400], [{ 'Upload-Checksum': 'sha1' }, 400], [{ 'Upload-Checksum': `sha1 ${Buffer.alloc(20).toString('base64')}` }, 460]] as const) {
      assert.equal((await patch(opened, url, bytes.subarray(1000, 2000), { ...at(1000), ...fields })).status, status, JSON.stringify(fields));
    }
    assert.equal(await offsetOf(opened, url), '1000');
    assert.equal((await patch(opened, url, bytes.subarray(1000), at(1000))).status, 204);
    assert.ok(Buffer.from((await opened.ask('GET', '/files/sent.mp4')).body).equals(bytes));
  }));

  test('that is given up while it is sent, or whose time is over, is gone with its chunks', () => withFilm(async (opened) => {
    const url = await begin(opened);
    const client = opened.client();
    client.send(requestHead('PATCH', url, { ...tus, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0', 'Content-Length': String(bytes.length) }), bytes.subarray(0, 280_000));
    assert.equal((await opened.ask('DELETE', url, tus)).status, 204);
    await client.closed();
    for (const method of ['HEAD', 'PATCH', 'DELETE'] as const) assert.ok([404, 410].includes((method === 'PATCH' ? await patch(opened, url, bytes, at(0)) : await opened.ask(method, url, tus)).status), method);
    assert.equal(await opened.opened.count('fs.chunks'), Math.ceil(bytes.length / 261_120));
  }));
});
