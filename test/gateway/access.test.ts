// Who may ask for what (gateway.md, section 7): HTTP Basic (RFC 7617) and bearer tokens (RFC 6750), signed addresses, pages of other origins (CORS).

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AccessRules, Caller } from '../../src/gateway/index.ts';
import { patternBytes } from '../support/file-store.ts';
import { GatewayForTest, jsonOf } from './gateway-for-test.ts';
import type { Fields } from './gateway-for-test.ts';

const bytes = patternBytes(1000);
let logins = 0;
const reader: Caller = { may: (right, db) => right === 'read' && db === 'test' };
const all: Caller = { may: () => true };
const rules: AccessRules = {
  logIn: (user, password) => {
    logins += 1;
    return Promise.resolve(user === 'anna' && password === 'pässword:1' ? all : user === 'rita' && password === 'r' ? reader : undefined);
  },
  tokens: [{ token: 'token-that-reads-only', rights: ['read'], db: undefined }, { token: 'token-of-other-writes', rights: ['read', 'write'], db: 'other' }],
};
const basic = (user: string, password: string): Fields => ({ Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` });
const bearer = (token: string): Fields => ({ Authorization: `Bearer ${token}` });
const anna = basic('anna', 'pässword:1');
const rita = basic('rita', 'r');

async function guarded(work: (opened: GatewayForTest) => Promise<void>, origins: readonly string[] = [], access: AccessRules = rules): Promise<void> {
  const opened = await GatewayForTest.open({}, 'embedded', { origins, access });
  try {
    await opened.opened.upload('film.mp4', bytes);
    await work(opened);
  } finally {
    await opened.close();
  }
}

describe('a gateway with accounts', () => {
  test('asks who it is, for everything but its health and the files of its page (RFC 9110, 11.6.1)', () => guarded(async (opened) => {
    for (const path of ['/', '/files/film.mp4', '/b/fs/files', '/b/fs/files/x', '/metrics', '/status', '/status.json', '/b/fs/id/s:x']) {
      const answer = await opened.ask('GET', path);
      assert.deepEqual([answer.status, answer.fields['www-authenticate']], [401, 'Basic realm="FrondDB files", charset="UTF-8", Bearer realm="FrondDB files"'], path);
      assert.equal(jsonOf(answer)['code'], 'unauthorized');
    }
    for (const path of ['/healthz', '/assets/app.js', '/assets/app.css', '/assets/status.js', '/favicon.ico']) assert.equal((await opened.ask('GET', path)).status, 200, path);
    assert.equal((await opened.ask('PUT', '/files/x', { 'Content-Length': '1000000', Expect: '100-continue' })).status, 401);
  }));

  test('lets users do what the database lets them, by name and password', () => guarded(async (opened) => {
    assert.equal((await opened.ask('GET', '/files/film.mp4', anna)).status, 200);
    assert.equal((await opened.ask('GET', '/files/film.mp4', rita)).status, 200);
    assert.equal((await opened.ask('GET', '/db/other/files/film.mp4', rita)).status, 403);
    for (const [method, path] of [['PUT', '/files/x'], ['DELETE', '/b/fs/files/s:x'], ['POST', '/b/fs/uploads'], ['GET', '/metrics']] as const) assert.equal((await opened.ask(method, path, rita)).status, 403, path);
    assert.equal((await opened.ask('PUT', '/files/x', anna, bytes)).status, 201);
    for (const wrong of [basic('anna', 'x'), basic('', ''), { Authorization: 'Basic %%%' }, { Authorization: 'Basic' }, { Authorization: 'Digest x' }, { Authorization: `Basic ${Buffer.from('anna').toString('base64')}` }]) {
      assert.equal((await opened.ask('GET', '/files/film.mp4', wrong)).status, 401, JSON.stringify(wrong));
    }
  }));

  test('asks the database once for a password that was right, and each time for one that was wrong', () => guarded(async (opened) => {
    logins = 0;
    for (let i = 0; i < 5; i++) assert.equal((await opened.ask('HEAD', '/files/film.mp4', rita)).status, 200);
    assert.equal(logins, 1);
    for (let i = 0; i < 3; i++) assert.equal((await opened.ask('HEAD', '/files/film.mp4', basic('rita', 'x'))).status, 401);
    assert.equal(logins, 4);
  }));

  test('takes tokens for what they are for', () => guarded(async (opened) => {
    assert.equal((await opened.ask('GET', '/files/film.mp4', bearer('token-that-reads-only'))).status, 200);
    assert.equal((await opened.ask('PUT', '/files/x', bearer('token-that-reads-only'), bytes)).status, 403);
    assert.equal((await opened.ask('GET', '/files/film.mp4', bearer('token-of-other-writes'))).status, 403);
    assert.equal((await opened.ask('PUT', '/db/other/files/x', bearer('token-of-other-writes'), bytes)).status, 201);
    assert.equal((await opened.ask('GET', '/files/film.mp4', bearer('token-that-reads-onlx'))).status, 401);
  }));

  test('signs an address that shows one file to anybody for a time', () => guarded(async (opened) => {
    const { id } = (await opened.opened.bucket.byName('film.mp4', -1))!;
    const link = await opened.ask('POST', `/b/fs/files/${id.text}/link?seconds=60`, rita);
    assert.equal(link.status, 201);
    const url = String(jsonOf(link)['url']);
    assert.match(url, new RegExp(`^/b/fs/id/${id.text}\\?exp=\\d+&sig=[\\w-]{43}$`));
    const range = await opened.ask('GET', url, { Range: 'bytes=5-9' });
    assert.deepEqual([range.status, range.body], [206, bytes.subarray(5, 10)]);
    assert.equal((await opened.ask('HEAD', url)).status, 200);
    assert.ok(Math.abs(Date.parse(String(jsonOf(link)['expires'])) - Date.now() - 60_000) < 5000);
    const other = await opened.opened.upload('other', bytes);
    const [, query = ''] = url.split('?');
    const later = query.replace(/exp=(\d+)/, (_, exp: string) => `exp=${Number(exp) + 1}`);
    for (const wrong of [`/b/fs/id/${other.id.text}?${query}`, `/b/fs/id/${id.text}?${later}`, `${url}x`, url.replace(/exp=\d+/, 'exp=1'), `/db/other/b/fs/id/${id.text}?${query}`]) {
      const answer = await opened.ask('GET', wrong);
      assert.deepEqual([answer.status, jsonOf(answer)['code']], [403, 'bad_signature'], wrong);
    }
    assert.equal((await opened.ask('GET', `/b/fs/files/${id.text}?${query}`)).status, 401);
    assert.equal((await opened.ask('PUT', `/b/fs/name/x?${query}`, {}, bytes)).status, 401);
    for (const seconds of ['0', '-1', '86401', 'x', '1.5']) assert.equal((await opened.ask('POST', `/b/fs/files/${id.text}/link?seconds=${seconds}`, anna)).status, 400, seconds);
    assert.equal((await opened.ask('POST', '/b/fs/files/s:none/link', anna)).status, 404);
  }));

  test('answers to any host name, and still takes no writes from pages of other sites', () => guarded(async (opened) => {
    assert.equal((await opened.ask('GET', '/files/film.mp4', { ...anna, Host: 'films.example' })).status, 200);
    for (const fields of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }]) assert.equal((await opened.ask('PUT', '/files/x', { ...anna, ...fields }, bytes)).status, 403);
  }));
});

describe('pages of other origins', () => {
  const page = 'https://films.example';

  test('that are listed may read, without the credentials of the browser; others may not', () => guarded(async (opened) => {
    const listed = await opened.ask('GET', '/files/film.mp4', { Origin: page, ...bearer('token-that-reads-only') });
    assert.deepEqual([listed.status, listed.fields['access-control-allow-origin'], listed.fields['vary'], listed.fields['access-control-allow-credentials'], listed.fields['cross-origin-resource-policy']], [200, page, 'Origin', undefined, 'cross-origin']);
    for (const name of ['Content-Range', 'Accept-Ranges', 'Content-Length', 'ETag', 'Location', 'Upload-Offset']) assert.ok(listed.fields['access-control-expose-headers']!.split(', ').includes(name), name);
    const refused = await opened.ask('GET', '/files/film.mp4', { Origin: page });
    assert.deepEqual([refused.status, refused.fields['access-control-allow-origin']], [401, page]);
    const other = await opened.ask('GET', '/files/film.mp4', { Origin: 'https://evil.example', ...anna });
    assert.deepEqual([other.status, other.fields['access-control-allow-origin'], other.fields['vary']], [200, undefined, 'Origin']);
    const ask = { Origin: page, 'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'upload-offset' };
    const preflight = await opened.ask('OPTIONS', '/b/fs/uploads/s:x', ask);
    assert.deepEqual([preflight.status, preflight.fields['access-control-allow-methods'], preflight.fields['access-control-allow-origin']], [204, 'GET, HEAD, PATCH, DELETE, OPTIONS', page]);
    assert.ok(preflight.fields['access-control-allow-headers']!.includes('Upload-Offset'));
    assert.equal((await opened.ask('OPTIONS', '/b/fs/uploads/s:x', { ...ask, Origin: 'https://evil.example' })).fields['access-control-allow-methods'], undefined);
  }, [page]));

  test('that are listed may write with a token of their own, not with what a browser sends by itself', () => guarded(async (opened) => {
    const from = { Origin: page, 'Sec-Fetch-Site': 'cross-site' };
    assert.equal((await opened.ask('PUT', '/db/other/files/x', { ...from, ...bearer('token-of-other-writes') }, bytes)).status, 201);
    assert.equal((await opened.ask('PUT', '/files/x', { ...from, ...anna }, bytes)).status, 403);
  }, [page]));

  test('are told nothing where none is listed', () => guarded(async (opened) => {
    const answer = await opened.ask('GET', '/files/film.mp4', { Origin: page });
    assert.deepEqual([answer.status, answer.fields['access-control-allow-origin'], answer.fields['vary'], answer.fields['cross-origin-resource-policy']], [200, undefined, undefined, 'same-site']);
  }, [], {}));
});

test('metrics and status tell the counters of the server and of the gateway', () => guarded(async (opened) => {
  await opened.ask('GET', '/files/film.mp4', anna);
  const metrics = await opened.ask('GET', '/metrics', anna);
  const text = Buffer.from(metrics.body).toString();
  assert.equal(metrics.fields['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.match(text, /^# TYPE frond_gateway_requests counter\nfrond_gateway_requests \d+$/m);
  assert.match(text, /^# TYPE frond_gateway_open_streams gauge\nfrond_gateway_open_streams 0$/m);
  for (const line of text.trimEnd().split('\n')) assert.match(line, /^(# TYPE [a-z_0-9]+ (gauge|counter)|[a-z_0-9]+(\{[^}]*\})? -?\d+(\.\d+)?(e[+-]?\d+)?)$/);
  assert.ok((jsonOf(await opened.ask('GET', '/status.json', anna))['gateway'] as Record<string, number>)['requests']! >= 2);
  const page = await opened.ask('GET', '/status', anna);
  assert.deepEqual([page.status, page.fields['content-type']], [200, 'text/html; charset=utf-8']);
}));
