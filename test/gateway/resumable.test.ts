// Resumable uploads over a bare socket: tus 1.0.0 with creation, creation-with-upload, creation-defer-length, expiration, checksum and termination.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { GatewayLimits } from '../../src/gateway/index.ts';
import { patternBytes } from '../support/file-store.ts';
import { jsonOf, requestHead, withGateway } from './gateway-for-test.ts';
import type { Fields, GatewayForTest, RawAnswer } from './gateway-for-test.ts';

const bytes = patternBytes(700_001);
const tus: Fields = { 'Tus-Resumable': '1.0.0' };
const part: Fields = { ...tus, 'Content-Type': 'application/offset+octet-stream' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const named: Fields = { ...tus, 'Upload-Metadata': `filename ${base64('dir/fïlm.mp4')},filetype ${base64('video/mp4')},title ${base64('Ein Film')},empty`, 'X-Chunk-Size': '65536' };

async function begin(opened: GatewayForTest, fields: Fields = { ...named, 'Upload-Length': String(bytes.length) }): Promise<string> {
  const answer = await opened.ask('POST', '/b/fs/uploads', fields);
  assert.equal(answer.status, 201);
  assert.deepEqual([answer.fields['tus-resumable'], answer.fields['content-length']], ['1.0.0', '0']);
  assert.match(answer.fields['location']!, /^\/b\/fs\/uploads\/[0-9a-f]{24}$/);
  return answer.fields['location']!;
}

interface Part {
  readonly at: number;
  readonly body: Uint8Array;
  readonly fields?: Fields;
}

const patch = (opened: GatewayForTest, url: string, { at, body, fields = {} }: Part): Promise<RawAnswer> => opened.ask('PATCH', url, { ...part, 'Upload-Offset': String(at), 'Content-Length': String(body.length), ...fields }, body);

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

const offsetOf = async (opened: GatewayForTest, url: string): Promise<string | undefined> => (await opened.ask('HEAD', url, tus)).fields['upload-offset'];

for (const over of ['embedded', 'remote'] as const) describe(`a resumable upload into the ${over} store`, () => {
  const withStore = (work: (opened: GatewayForTest) => Promise<void>, limits: Partial<GatewayLimits> = {}): Promise<void> => withGateway(work, limits, over);
  const markers = ({ opened }: GatewayForTest): Promise<number> => (over === 'embedded' ? opened.count('gridfsUploads', 'local') : opened.count('fs.uploads'));

  test('is sent in parts and listed with its last byte, as any other file', () => withStore(async (opened) => {
    const url = await begin(opened);
    const head = await opened.ask('HEAD', url, tus);
    assert.deepEqual([head.status, head.fields['upload-offset'], head.fields['upload-length'], head.fields['cache-control']], [200, '0', String(bytes.length), 'no-store']);
    assert.equal(head.fields['upload-metadata'], `filename ${base64('dir/fïlm.mp4')},filetype ${base64('video/mp4')},title ${base64('Ein Film')},empty`);
    assert.ok(Date.parse(head.fields['upload-expires']!) > Date.now());
    for (const [from, to] of [[0, 1], [1, 65_536], [65_536, 300_000], [300_000, 300_000], [300_000, bytes.length]] as const) {
      assert.deepEqual(jsonOf(await opened.ask('GET', '/b/fs/files'))['files'], []);
      const answer = await patch(opened, url, { at: from, body: bytes.subarray(from, to) });
      assert.deepEqual([answer.status, answer.fields['upload-offset'], answer.fields['tus-resumable']], [204, String(to), '1.0.0']);
    }
    const file = await opened.ask('GET', '/files/dir/f%C3%AFlm.mp4');
    assert.deepEqual([file.status, file.fields['content-type'], file.fields['repr-digest']], [200, 'video/mp4', `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`]);
    assert.ok(Buffer.from(file.body).equals(bytes));
    const document = jsonOf(await opened.ask('GET', `/b/fs/files/${url.split('/').at(-1)!}`));
    assert.deepEqual([document['chunkSize'], (document['metadata'] as Record<string, string>)['title']], [65_536, 'Ein Film']);
  }));

  test('whose last answer was lost is told that it is whole', () => withStore(async (opened) => {
    const url = await begin(opened);
    const last = await patch(opened, url, { at: 0, body: bytes });
    assert.equal(last.fields['content-location'], url.replace('uploads', 'id'));
    const head = await opened.ask('HEAD', url, tus);
    assert.deepEqual([head.status, head.fields['upload-offset'], head.fields['upload-length'], head.fields['content-location']], [200, String(bytes.length), String(bytes.length), url.replace('uploads', 'id')]);
    assert.deepEqual([(await patch(opened, url, { at: bytes.length, body: new Uint8Array(0) })).status, (await patch(opened, url, { at: 5, body: bytes })).status], [204, 409]);
    assert.equal((await patch(opened, url, { at: bytes.length, body: bytes.subarray(0, 1) })).status, 413);
    const client = opened.client();
    client.send(requestHead('PATCH', url, { ...part, 'Upload-Offset': String(bytes.length), 'Transfer-Encoding': 'chunked' }), Buffer.from('1\r\nx\r\n0\r\n\r\n'));
    assert.equal((await client.answer()).status, 413);
    client.destroy();
    assert.equal((await patch(opened, url, { at: bytes.length, body: new Uint8Array(0) })).status, 204);
    assert.ok(Buffer.from((await opened.ask('GET', url.replace('uploads', 'id'))).body).equals(bytes));
  }));

  test('keeps what came when its connection is cut, and goes on from there', () => withStore(async (opened) => {
    const url = await begin(opened);
    const client = opened.client();
    client.send(requestHead('PATCH', url, { ...part, 'Upload-Offset': '0', 'Content-Length': String(bytes.length) }), bytes.subarray(0, 400_000));
    await until(() => opened.gateway.counters.openUploads === 1);
    client.socket.end();
    await until(() => opened.gateway.counters.openUploads === 0);
    client.destroy();
    const offset = Number(await offsetOf(opened, url));
    assert.ok(offset > 0 && offset <= 400_000, String(offset));
    assert.equal((await patch(opened, url, { at: offset, body: bytes.subarray(offset) })).status, 204);
    assert.ok(Buffer.from((await opened.ask('GET', url.replace('uploads', 'id'))).body).equals(bytes));
    assert.equal((await opened.ask('GET', `/b/fs/files/${url.split('/').at(-1)!}/check`)).status, 200);
  }));

  test('is taken from an old connection by a client that comes back', () => withStore(async (opened) => {
    const url = await begin(opened);
    const old = opened.client();
    old.send(requestHead('PATCH', url, { ...part, 'Upload-Offset': '0', 'Content-Length': String(bytes.length) }), bytes.subarray(0, 400_000));
    await until(() => opened.gateway.counters.openUploads === 1);
    const offset = Number(await offsetOf(opened, url));
    await old.closed();
    assert.equal((await patch(opened, url, { at: offset, body: bytes.subarray(offset) })).status, 204);
    assert.ok(Buffer.from((await opened.ask('GET', url.replace('uploads', 'id'))).body).equals(bytes));
  }));

  test('is begun with its first bytes, or with all of them (creation-with-upload)', () => withStore(async (opened) => {
    for (const count of [0, 300_000, bytes.length]) {
      const answer = await opened.ask('POST', '/b/fs/uploads', { ...named, ...part, 'Upload-Length': String(bytes.length), 'Content-Length': String(count) }, bytes.subarray(0, count));
      assert.deepEqual([answer.status, answer.fields['upload-offset']], [201, String(count)]);
      const url = answer.fields['location']!;
      if (count < bytes.length) assert.equal((await patch(opened, url, { at: count, body: bytes.subarray(count) })).status, 204);
      assert.ok(Buffer.from((await opened.ask('GET', url.replace('uploads', 'id'))).body).equals(bytes));
    }
  }));

  test('of no bytes is whole at once', () => withStore(async (opened) => {
    const answer = await opened.ask('POST', '/b/fs/uploads', { ...named, 'Upload-Length': '0' });
    assert.deepEqual([answer.status, answer.fields['upload-offset']], [201, '0']);
    assert.equal((await opened.ask('HEAD', '/files/dir/f%C3%AFlm.mp4')).fields['content-length'], '0');
  }));

  test('may say its length later (creation-defer-length)', () => withStore(async (opened) => {
    const url = await begin(opened, { ...named, 'Upload-Defer-Length': '1' });
    assert.equal((await opened.ask('HEAD', url, tus)).fields['upload-defer-length'], '1');
    assert.equal((await patch(opened, url, { at: 0, body: bytes.subarray(0, 1000) })).status, 204);
    assert.equal((await patch(opened, url, { at: 1000, body: bytes.subarray(1000, 2000), fields: { 'Upload-Length': '3000' } })).status, 204);
    assert.deepEqual([(await opened.ask('HEAD', url, tus)).fields['upload-length'], (await patch(opened, url, { at: 2000, body: bytes.subarray(2000, 3000) })).status], ['3000', 204]);
    assert.equal((await opened.ask('HEAD', '/files/dir/f%C3%AFlm.mp4')).fields['content-length'], '3000');
  }));

  test('checks each part against its checksum, and forgets one that is wrong or cut (checksum)', () => withStore(async (opened) => {
    const url = await begin(opened);
    const sum = (name: string, of: Uint8Array): Fields => ({ 'Upload-Checksum': `${name} ${createHash(name).update(of).digest('base64')}` });
    assert.equal((await patch(opened, url, { at: 0, body: bytes.subarray(0, 70_000), fields: sum('sha1', bytes.subarray(0, 70_000)) })).status, 204);
    const wrong = await patch(opened, url, { at: 70_000, body: bytes.subarray(70_000), fields: sum('md5', bytes) });
    assert.deepEqual([wrong.status, await offsetOf(opened, url)], [460, '70000']);
    const cut = opened.client();
    cut.send(requestHead('PATCH', url, { ...part, 'Upload-Offset': '70000', 'Content-Length': '600000', ...sum('sha1', bytes) }), bytes.subarray(0, 300_000));
    await until(() => opened.gateway.counters.openUploads === 1);
    cut.socket.end();
    await until(() => opened.gateway.counters.openUploads === 0);
    cut.destroy();
    assert.equal(await offsetOf(opened, url), '70000');
    assert.equal((await patch(opened, url, { at: 70_000, body: bytes.subarray(70_000), fields: { 'Upload-Checksum': 'crc7 AAAA' } })).status, 400);
    assert.equal((await patch(opened, url, { at: 70_000, body: bytes.subarray(70_000), fields: sum('sha256', bytes.subarray(70_000)) })).status, 204);
    assert.ok(Buffer.from((await opened.ask('GET', url.replace('uploads', 'id'))).body).equals(bytes));
  }));

  test('is given up with all that came of it (termination)', () => withStore(async (opened) => {
    const url = await begin(opened);
    await patch(opened, url, { at: 0, body: bytes.subarray(0, 500_000) });
    assert.deepEqual([(await opened.ask('DELETE', url, tus)).status, (await opened.ask('DELETE', url, tus)).status, (await opened.ask('HEAD', url, tus)).status, (await patch(opened, url, { at: 500_000, body: bytes })).status], [204, 404, 404, 404]);
    assert.deepEqual([await opened.opened.count('fs.chunks'), await markers(opened)], [0, 0]);
  }));

  test('that nobody goes on with expires, and its chunks go (expiration)', () => withStore(async (opened) => {
    const url = await begin(opened);
    await patch(opened, url, { at: 0, body: bytes.subarray(0, 500_000) });
    await until(async () => (await opened.opened.count('fs.chunks')) === 0);
    assert.equal((await opened.ask('HEAD', url, tus)).status, 404);
  }, { resumableMs: 300 }));

  test('tells what it can, and refuses what it cannot mean', () => withStore(async (opened) => {
    const options = await opened.ask('OPTIONS', '/b/fs/uploads');
    assert.deepEqual([options.status, options.fields['tus-version'], options.fields['tus-extension'], options.fields['tus-max-size']], [204, '1.0.0', 'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination', '800000']);
    const post = (fields: Fields): Promise<RawAnswer> => opened.ask('POST', '/b/fs/uploads', fields);
    const old = await post({ 'Tus-Resumable': '0.2.2', 'Upload-Length': '5' });
    assert.deepEqual([old.status, old.fields['tus-version']], [412, '1.0.0']);
    const refused: readonly (readonly [Fields, number])[] = [
      [named, 400], [{ ...named, 'Upload-Length': '-5' }, 400], [{ ...named, 'Upload-Length': '5', 'Upload-Defer-Length': '1' }, 400], [{ ...named, 'Upload-Defer-Length': '2' }, 400], [{ ...named, 'Upload-Length': '800001' }, 413],
      [{ ...tus, 'Upload-Length': '5' }, 400], [{ ...tus, 'Upload-Length': '5', 'Upload-Metadata': 'filename %%%' }, 400], [{ ...tus, 'Upload-Length': '5', 'Upload-Metadata': 'filename' }, 400], [{ ...tus, 'Upload-Length': '5', 'Upload-Metadata': 'filename YQ==,filename YQ==' }, 400],
      [{ ...named, 'Upload-Length': '5', 'X-Chunk-Size': '5' }, 400], [{ ...named, 'Upload-Length': '5', 'Sec-Fetch-Site': 'cross-site' }, 403],
    ];
    for (const [fields, status] of refused) assert.equal((await post(fields)).status, status, JSON.stringify(fields));
    const url = await begin(opened);
    for (const [fields, status] of [[{ 'Upload-Offset': 'x' }, 400], [{ 'Upload-Offset': '5' }, 409], [{ 'Content-Type': 'video/mp4' }, 415], [{ 'Tus-Resumable': '2' }, 412], [{ 'Sec-Fetch-Site': 'cross-site' }, 403]] as const) {
      assert.equal((await patch(opened, url, { at: 0, body: bytes.subarray(0, 10), fields })).status, status, JSON.stringify(fields));
    }
    assert.equal((await patch(opened, url, { at: 0, body: patternBytes(bytes.length + 1) })).status, 413);
    assert.equal((await opened.ask('POST', url, { ...part, 'Upload-Offset': '0', 'X-HTTP-Method-Override': 'PATCH' }, bytes.subarray(0, 10))).status, 204);
    assert.equal(await offsetOf(opened, url), '10');
  }, { uploadBytesMax: 800_000 }));

  test('under If-None-Match: * is refused when the name is taken meanwhile, and can be given up', () => withStore(async (opened) => {
    const url = await begin(opened, { ...named, 'Upload-Length': '10', 'If-None-Match': '*' });
    await opened.opened.upload('dir/fïlm.mp4', bytes);
    assert.equal((await patch(opened, url, { at: 0, body: bytes.subarray(0, 10) })).status, 412);
    assert.deepEqual([await offsetOf(opened, url), (await opened.ask('DELETE', url, tus)).status], ['10', 204]);
    assert.equal((await opened.ask('POST', '/b/fs/uploads', { ...named, 'Upload-Length': '10', 'If-None-Match': '*' })).status, 412);
  }));
});

test('a client has only so many uploads at a time; others of it are told to wait', () => withGateway(async (opened) => {
  const slow = opened.client();
  slow.send(requestHead('PUT', '/files/slow', { 'Content-Length': '1000' }), bytes.subarray(0, 10));
  await until(() => opened.gateway.counters.openUploads === 1);
  const refused = await opened.ask('PUT', '/files/x', {}, bytes.subarray(0, 10));
  assert.deepEqual([refused.status, jsonOf(refused)['code'], refused.fields['retry-after']], [429, 'too_many_uploads', '5']);
  slow.destroy();
  await until(() => opened.gateway.counters.openUploads === 0);
  assert.equal((await opened.ask('PUT', '/files/x', {}, bytes.subarray(0, 10))).status, 201);
}, { uploadsPerClientMax: 1 }));
