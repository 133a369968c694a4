// Paths, names, ids, types and methods: RFC 9110, sections 7 to 9 and 15.5, RFC 3986, RFC 6266, RFC 8187.

import { get } from './case.ts';
import type { Case, Expected } from './case.ts';
import { filmLength, ids, names, types } from './world.ts';

const missing: Expected = { status: 404, fields: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }, body: { code: 'not_found' } };
const badName: Expected = { status: 400, body: { code: 'bad_name' } };
const badRequest: Expected = { status: 400, body: { code: 'bad_request' } };

const nameCases = names.map(([name, path, disposition]) => get('6266 4.1', `the name ${JSON.stringify(name)}`, { target: `/files/${path}` }, { status: 200, fields: { 'content-disposition': disposition, 'x-evil': undefined }, body: [name, 0, 59] }));
const idCases = ids.map(([, path], i) => get('8.6', `the id ${path.slice(0, 40)}`, { target: `/b/fs/id/${path}` }, { status: 200, fields: { 'cache-control': 'private, max-age=31536000, immutable' }, body: [`id ${i}`, 0, 49] }));
const typeCases = types.map(([stored, name, sent, how, sandbox]) => get('8.3', `type ${JSON.stringify(stored)} of ${name}`, { target: `/files/${name}` }, {
  status: 200,
  fields: { 'content-type': sent, 'content-disposition': new RegExp(`^${how};`), 'content-security-policy': sandbox ? "default-src 'none'; sandbox" : undefined, 'x-content-type-options': 'nosniff', 'x-evil': undefined },
}));

const undecodable = ['/files/%', '/files/%4', '/files/%zz', '/files/%FF', '/files/%C3%28', '/files/%ED%A0%80', '/files/%F5%80%80%80', '/files/%C0%AF', '/files/a%00b', '/b/%FF/name/x', '/b/fs/id/%FF', '/db/%FF/files/x'];
const nowhere = ['/files/none', '/files/FILM.MP4', '/files/film.mp4/', '/files//film.mp4', '/b/none/name/film.mp4', '/b/fs/name/none', '/b/fs/id/bbbbbbbbbbbbbbbbbbbbbbbb', '/b/fs/id/s:none', '/b/fs/id/i:12345', '/db/none/files/film.mp4', '/nothing', '/b/fs', '/b', '/files', '/b/fs/files/none/nothing', '/.git/config', '/etc/passwd', '/b/fs/files/bbbbbbbbbbbbbbbbbbbbbbbb', '/b/fs/files/bbbbbbbbbbbbbbbbbbbbbbbb/check'];
const badIds = ['i:', 'i:1.5', 'i:99999999999999999999', 'u:12', 'j:%7B', 'j:'];
const revisions: readonly (readonly [query: string, file: string, length: number])[] = [['', 'revision 2', 12], ['?revision=-1', 'revision 2', 12], ['?revision=-2', 'revision 1', 11], ['?revision=-3', 'revision 0', 10], ['?revision=0', 'revision 0', 10], ['?revision=1', 'revision 1', 11], ['?revision=2', 'revision 2', 12]];

const allow = (rule: string, method: string, target: string, value: string): Case => ({ rule, name: `${method} ${target}`, method, target, expected: { status: method === 'OPTIONS' ? 204 : 405, fields: { allow: value }, ...(method === 'OPTIONS' ? {} : { body: { code: 'method_not_allowed' } }) } });
const named = 'GET, HEAD, PUT, OPTIONS';
const fixed = 'GET, HEAD, OPTIONS';

/** All of them. */
export const pathCases: readonly Case[] = [
  ...nameCases,
  ...idCases,
  ...typeCases,
  ...undecodable.map((target) => get('3986 2.1', `does not decode: ${target}`, { target }, badName)),
  ...nowhere.map((target) => get('15.5.5', `nothing at ${target}`, { target }, missing)),
  ...badIds.map((id) => get('15.5.1', `no id: ${id}`, { target: `/b/fs/id/${id}` }, badName)),
  ...revisions.map(([query, file, length]) => get('GridFS: revisions', `revision ${query}`, { target: `/files/revised.mp4${query}` }, { status: 200, body: [file, 0, length - 1] })),
  ...['3', '-4', '99'].map((revision) => get('GridFS: revisions', `revision ${revision} there is not`, { target: `/files/revised.mp4?revision=${revision}` }, missing)),
  ...['x', '1.5', '', '--1', '99999999999999999999', '[$ne]'].map((revision) => get('15.5.1', `revision ${revision} is none`, { target: `/files/revised.mp4?revision=${revision}` }, badRequest)),
  get('seed, bug 20', 'a query that looks like an operator is nothing', { target: '/files/film.mp4?filename[$ne]=x' }, { status: 200, body: ['film.mp4', 0, filmLength - 1] }),
  get('15.5.5', 'an error in text, where text is asked for', { target: '/files/none', fields: { Accept: 'text/html' } }, { status: 404, fields: { 'content-type': 'text/plain; charset=utf-8' } }),
  get('6266 4.2', 'download saves', { target: '/files/film.mp4?download=1' }, { status: 200, fields: { 'content-disposition': 'attachment; filename="film.mp4"' } }),
  get('6266 4.2', 'download=0 does not', { target: '/files/film.mp4?download=0' }, { status: 200, fields: { 'content-disposition': 'inline; filename="film.mp4"' } }),
  get('6266 4.2', 'inline never shows what runs scripts', { target: '/files/t.html?inline=1' }, { status: 200, fields: { 'content-disposition': /^attachment/, 'content-security-policy': "default-src 'none'; sandbox" } }),
  get('6266 4.1', 'a file without a name', { target: '/b/fs/id/s:no%20name' }, { status: 200, fields: { 'content-disposition': 'attachment' } }),
  get('6266 4.1', 'a file whose name is no text', { target: '/b/fs/id/s:odd%20name' }, { status: 200, fields: { 'content-disposition': 'attachment' } }),
  allow('15.5.6', 'POST', '/files/film.mp4', named), allow('15.5.6', 'DELETE', '/files/film.mp4', named), allow('15.5.6', 'PATCH', '/files/film.mp4', named), allow('15.5.6', 'TRACE', '/files/film.mp4', named), allow('15.5.6', 'PROPFIND', '/files/film.mp4', named),
  allow('15.5.6', 'PUT', '/b/fs/id/aaaaaaaaaaaaaaaaaaaaaaaa', fixed), allow('15.5.6', 'DELETE', '/b/fs/id/aaaaaaaaaaaaaaaaaaaaaaaa', fixed), allow('15.5.6', 'DELETE', '/b/fs/files', 'GET, HEAD, POST, OPTIONS'),
  allow('15.5.6', 'POST', '/b/fs/files/aaaaaaaaaaaaaaaaaaaaaaaa', 'GET, HEAD, PATCH, DELETE, OPTIONS'), allow('15.5.6', 'POST', '/', fixed), allow('15.5.6', 'PUT', '/healthz', fixed),
  allow('9.3.7', 'OPTIONS', '/files/film.mp4', named), allow('9.3.7', 'OPTIONS', '/b/fs/files', 'GET, HEAD, POST, OPTIONS'), allow('9.3.7', 'OPTIONS', '/', fixed),
  { rule: '9.3.2', name: 'HEAD is GET without the body', method: 'HEAD', target: '/files/film.mp4', expected: { status: 200, fields: { 'content-length': String(filmLength), 'content-type': 'video/mp4', etag: /^"/, 'accept-ranges': 'bytes' }, body: '' } },
  { rule: '9.3.2', name: 'HEAD of an empty file', method: 'HEAD', target: '/files/empty.mp4', expected: { status: 200, fields: { 'content-length': '0' }, body: '' } },
  { rule: '9.3.2', name: 'HEAD of nothing', method: 'HEAD', target: '/files/none', expected: { status: 404, body: '' } },
];
