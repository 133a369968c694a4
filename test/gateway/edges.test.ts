// What is rare and must still be right: trailers, heads of very many fields, clients that close their half, a disk that is full, a file replaced under its
// id while it is watched, parts of tus that are not spoken here, metadata of any name, signed addresses that somebody has changed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { Binary, DateTime, Document } from '../../src/bson/index.ts';
import { namespaceOf } from '../../src/catalog/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { Env, File, FileSystem } from '../../src/env/index.ts';
import { Gateway } from '../../src/gateway/index.ts';
import { patternBytes, StoreForTest } from '../support/file-store.ts';
import { GatewayForTest, jsonOf, requestHead, withGateway } from './gateway-for-test.ts';
import type { Fields } from './gateway-for-test.ts';

const bytes = patternBytes(300_000);
const tus: Fields = { 'Tus-Resumable': '1.0.0' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('trailers behind a body are read past and mean nothing (RFC 9112, 7.1.2)', () => withGateway(async (opened) => {
  const client = opened.client();
  const chunks = '5\r\nhello\r\n0\r\nX-Chunk-Size: 1\r\nHost: evil.example\r\nAuthorization: Basic eDp5\r\nIf-None-Match: *\r\n\r\n';
  client.send(`${requestHead('PUT', '/files/trailed', { 'Transfer-Encoding': 'chunked', Trailer: 'X-Chunk-Size' })}${chunks}${requestHead('GET', '/files/trailed')}`);
  assert.equal((await client.answer()).status, 201);
  const answer = await client.answer();
  assert.deepEqual([answer.status, Buffer.from(answer.body).toString()], [200, 'hello']);
  client.destroy();
  const framing = opened.client();
  framing.send(`${requestHead('PUT', '/files/framed', { 'Transfer-Encoding': 'chunked' })}5\r\nhello\r\n0\r\nContent-Length: 99\r\n\r\n`);
  assert.equal((await framing.answer()).status, 400);
  await framing.closed();
  assert.equal((await opened.ask('GET', '/files/framed')).status, 404);
}));

test('no field of a head is overlooked, however many there are before it', () => withGateway(async (opened) => {
  await opened.opened.upload('film.mp4', bytes);
  const many = Array.from({ length: 2500 }, () => 'a:').join('\r\n');
  for (const [last, status] of [['Range: bytes=0-4', 206], ['If-Match: "another"', 412], ['Expect: miracles', 417], ['Sec-Fetch-Site: cross-site', 403]] as const) {
    const client = opened.client();
    const method = status === 403 ? 'PUT' : 'GET';
    client.send(`${method} /files/film.mp4 HTTP/1.1\r\nHost: localhost\r\n${many}\r\n${last}\r\n${status === 403 ? 'Content-Length: 0\r\n' : ''}\r\n`);
    assert.equal((await client.answer()).status, status, last);
    client.destroy();
  }
}));

test('a client that closes its half after it has asked gets all of the answer', () => withGateway(async (opened) => {
  const film = patternBytes(8_000_000);
  await opened.opened.upload('film.mp4', film);
  const client = opened.client();
  client.send(requestHead('GET', '/files/film.mp4'));
  client.socket.end();
  const answer = await client.answer();
  assert.deepEqual([answer.status, answer.whole, Buffer.from(answer.body).equals(film)], [200, true, true]);
  await client.closed();
  const idle = opened.client();
  idle.socket.end();
  await idle.closed();
}));

/** A system of files that is full, for large values, once it is told so. */
function fullDisk(env: Env): { readonly env: Env; readonly disk: { isFull: boolean } } {
  const disk = { isFull: false };
  const refuse = (path: string): void => {
    if (disk.isFull && path.includes('/blob/')) throw new EngineError('no-space', `${path}: no space`);
  };
  const through = <T extends object>(target: T, changes: Readonly<Record<string, unknown>>): T => new Proxy(target, {
    get: (of, name) => {
      if (typeof name === 'string' && name in changes) return changes[name];
      const value: unknown = Reflect.get(of, name);
      return typeof value === 'function' ? (...words: unknown[]): unknown => Reflect.apply(value, of, words) : value;
    },
  });
  const files: FileSystem = through(env.files, {
    open: async (...words: Parameters<FileSystem['open']>): Promise<File> => {
      const file = await env.files.open(...words);
      return through(file, {
        writev: async (sources: readonly Uint8Array[], offset: number): Promise<void> => {
          refuse(file.path);
          await file.writev(sources, offset);
        },
      });
    },
  });
  return { env: through(env, { files }), disk };
}

test('a disk without room refuses uploads with 507 and leaves nothing of them; what is stored is served', async () => {
  const { env, disk } = fullDisk(await openMemoryEnv());
  const opened = await StoreForTest.open(env);
  const events: string[] = [];
  const gateway = await Gateway.listen({ host: '127.0.0.1', port: 0, store: opened.store, db: 'test', clock: env.clock, random: env.random, page: new Map(), limits: { closeGraceMs: 0 }, onEvent: ({ message }) => events.push(message) });
  const whole = new GatewayForTest(opened, gateway, { events: [], remote: undefined });
  try {
    await opened.upload('film.mp4', bytes);
    disk.isFull = true;
    const large = patternBytes(2_000_000);
    const refused = await whole.ask('PUT', '/files/large', {}, large);
    assert.deepEqual([refused.status, jsonOf(refused)['code']], [507, 'no_space']);
    const answer = await whole.ask('GET', '/files/film.mp4');
    assert.ok(answer.status === 200 && Buffer.from(answer.body).equals(bytes));
    assert.equal((await whole.ask('GET', '/files/large')).status, 404);
    assert.ok(events.every((message) => message.includes('no room')), events.join());
  } finally {
    await whole.close();
  }
});

describe('a file that is replaced under its id while it is watched', () => {
  for (const over of ['embedded', 'remote'] as const) test(`is cut, and then the other: ${over}`, () => withGateway(async (opened) => {
    const [old, other] = [patternBytes(12_000_000, 1), patternBytes(12_000_000, 2)];
    await opened.opened.createIndexes();
    await opened.opened.plant({ id: 'one', filename: 'film.mp4', bytes: old });
    const client = opened.client();
    client.send(requestHead('GET', '/b/fs/id/s:one'));
    await client.has(100_000);
    client.socket.pause();
    const { catalog } = opened.opened;
    await catalog.run(async (txn) => {
      const [files, chunks] = [await catalog.ensureCollection(txn, namespaceOf('test', 'fs.files')), await catalog.ensureCollection(txn, namespaceOf('test', 'fs.chunks'))];
      const key = files.keyOf('one');
      const before = (await files.get(txn, key))!;
      await files.update(txn, key, { before, after: Document.fromEntries(before.fields.map(([name, value]) => [name, name === 'uploadDate' ? new DateTime(Date.UTC(2025, 0, 1)) : value])) });
      const cursor = chunks.scan(txn, {}, 1);
      for (let batch = await cursor.nextBatch({ rows: 1000, bytes: 1 << 26 }); batch.length > 0; batch = await cursor.nextBatch({ rows: 1000, bytes: 1 << 26 })) {
        for (let i = 0; i < batch.length; i++) {
          const document = Document.fromBytes(batch.value(i).slice());
          const n = Number(document.get('n'));
          const data = new Binary(other.slice(n * 261_120, (n + 1) * 261_120));
          await chunks.update(txn, batch.key(i).slice(), { before: document, after: Document.fromEntries(document.fields.map(([name, value]) => [name, name === 'data' ? data : value])) });
        }
      }
      cursor.close();
    });
    client.socket.resume();
    const answer = await client.answer();
    assert.deepEqual([answer.status, answer.whole], [200, false]);
    assert.ok(Buffer.from(answer.body).equals(old.subarray(0, answer.body.length)), 'bytes of the other');
    const now = await opened.ask('GET', '/b/fs/id/s:one');
    assert.ok(now.status === 200 && Buffer.from(now.body).equals(other));
  }, {}, over));
});

test('concatenated uploads are refused, for they are not spoken here, and nothing is begun', () => withGateway(async (opened) => {
  for (const concat of ['partial', 'final;/b/fs/uploads/a /b/fs/uploads/b']) {
    const answer = await opened.ask('POST', '/b/fs/uploads', { ...tus, 'Upload-Length': '5', 'Upload-Concat': concat, 'Upload-Metadata': `filename ${base64('x')}` });
    assert.deepEqual([answer.status, answer.fields['location']], [400, undefined], concat);
  }
}));

test('metadata of any name and text is kept as it is, in an upload, a form and a list, and changes nothing else', () => withGateway(async (opened) => {
  const names = ['__proto__', 'constructor', '$where', 'a.b', '_id', 'length', 'toString', 'ключ', 'x'.repeat(300)];
  const pairs = names.map((name) => `${name} ${base64(`{"$gt":""} </script> ${name}`)}`).filter((pair) => /^[\x21-\x7e]+ /.test(pair));
  const made = await opened.ask('POST', '/b/fs/uploads', { ...tus, 'Upload-Length': '0', 'Upload-Metadata': [`filename ${base64('kept')}`, ...pairs].join(',') });
  assert.equal(made.status, 201);
  const id = made.fields['content-location']!.split('/').at(-1)!;
  const { metadata, length, filename } = jsonOf(await opened.ask('GET', `/b/fs/files/${id}`)) as { readonly metadata: Readonly<Record<string, unknown>>; readonly length: number; readonly filename: string };
  assert.deepEqual([length, filename], [0, 'kept']);
  for (const pair of pairs) {
    const name = pair.split(' ')[0]!;
    assert.equal(Object.getOwnPropertyDescriptor(metadata, name)?.value, `{"$gt":""} </script> ${name}`, name);
  }
  assert.equal(Buffer.from((await opened.ask('GET', '/')).body).toString().includes('</script> '), false);
}));

test('an upload and what is asked behind it on the connection are answered in their turn', () => withGateway(async (opened) => {
  const client = opened.client();
  for (let i = 0; i < 5; i++) client.send(requestHead('PUT', `/files/turn${i}`, { 'Content-Length': '1000' }) + Buffer.from(bytes.subarray(i, i + 1000)).toString('latin1') + requestHead('GET', `/files/turn${i}`, { Range: 'bytes=990-' }));
  for (let i = 0; i < 5; i++) {
    assert.equal((await client.answer()).status, 201);
    const answer = await client.answer();
    assert.deepEqual([answer.status, answer.body], [206, bytes.subarray(i + 990, i + 1000)]);
  }
  client.destroy();
}));

test('an address that is signed is good for what it says only, however it is written', async () => {
  const opened = await GatewayForTest.open({}, 'embedded', { access: { tokens: [{ token: 'token-that-reads-it', rights: ['read'], db: undefined }] } });
  try {
    const { id } = await opened.opened.upload('film.mp4', bytes);
    const bearer = { Authorization: 'Bearer token-that-reads-it' };
    const url = String(jsonOf(await opened.ask('POST', `/b/fs/files/${id.text}/link?seconds=60`, bearer))['url']);
    const [path = '', query = ''] = url.split('?');
    const [exp = '', sig = ''] = [/exp=(\d+)/.exec(query)?.[1], /sig=([\w-]+)/.exec(query)?.[1]];
    assert.equal((await opened.ask('GET', url)).status, 200);
    const turned = sig.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
    const wrong = [
      `${path}?exp=${exp}&sig=${turned}`, `${path}?exp=${exp}&sig=${turned}&sig=${sig}`, `${path}?exp=${Number(exp) + 1}&exp=${exp}&sig=${sig}`, `${path}?exp=&sig=${sig}`, `${path}?sig=${sig}`, `${path}?exp=${exp}&sig=`, `${path}?exp=-1&sig=${sig}`, `${path}?exp=1e12&sig=${sig}`,
      `${path}?exp=${exp}&sig=${sig}%00`, `${path}?exp=${exp}&sig=${sig.toLowerCase()}`, `/b/other/id/${id.text}?${query}`, `/db/x/b/fs/id/${id.text}?${query}`, `/b/fs/id/s:${id.text}?${query}`,
    ];
    for (const target of wrong) assert.equal((await opened.ask('GET', target)).status, 403, target);
    for (const target of [`/files/film.mp4?${query}`, `/b/fs/files?${query}`, `/b/fs/files/${id.text}?${query}`, `/b/fs/files/${id.text}/check?${query}`, `/status?${query}`, `/?${query}`]) assert.equal((await opened.ask('GET', target)).status, 401, target);
    for (const method of ['PUT', 'DELETE', 'PATCH', 'POST']) assert.ok([401, 405].includes((await opened.ask(method, url)).status), method);
  } finally {
    await opened.close();
  }
});
