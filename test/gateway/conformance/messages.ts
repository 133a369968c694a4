// Messages on the wire: RFC 9112, and what RFC 9110 says of framing. Sent as bytes, for no client library would send them.

import type { Case, Expected } from './case.ts';
import { filmLength } from './world.ts';

const body: Expected['body'] = ['film.mp4', 0, filmLength - 1];
const film: Expected = { status: 200, fields: { 'content-length': String(filmLength) }, body };
const refused = (status: number): Expected => ({ status, closes: true });

function raw(rule: string, name: string, head: string, expected: Expected): Case {
  return { rule: `9112 ${rule}`, name, method: head.startsWith('HEAD') ? 'HEAD' : 'GET', target: '', raw: `${head.replaceAll('\n', '\r\n')}\r\n\r\n`, expected };
}

/** All of them. */
export const messageCases: readonly Case[] = [
  raw('3.2.1', 'origin form', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost', film),
  raw('3.2.2', 'absolute form', 'GET http://localhost/files/film.mp4 HTTP/1.1\nHost: localhost', film),
  raw('3.2.2', 'absolute form, other case', 'GET HTTP://LOCALHOST/files/film.mp4 HTTP/1.1\nHost: localhost', film),
  raw('3.2.4', 'asterisk form', 'OPTIONS * HTTP/1.1\nHost: localhost', { status: 204 }),
  raw('3.2', 'no Host', 'GET /files/film.mp4 HTTP/1.1', refused(400)),
  raw('3.2', 'two Hosts', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nHost: localhost', { status: 400 }),
  raw('3.2', 'a Host that is none', 'GET /files/film.mp4 HTTP/1.1\nHost: a b', { status: 421 }),
  raw('3', 'two blanks in the request line may be taken for one', 'GET  /files/film.mp4 HTTP/1.1\nHost: localhost', film),
  raw('3', 'no version', 'GET /files/film.mp4\nHost: localhost', refused(400)),
  raw('2.3', 'a later minor version is not known', 'GET /files/film.mp4 HTTP/1.9\nHost: localhost', refused(400)),
  raw('2.3', 'HTTP/2 in words', 'GET /files/film.mp4 HTTP/2.0\nHost: localhost', refused(505)),
  raw('3.1', 'a method in small letters is another', 'get /files/film.mp4 HTTP/1.1\nHost: localhost', refused(501)),
  raw('3.1', 'a method that nobody knows', 'FROBNICATE /files/film.mp4 HTTP/1.1\nHost: localhost', refused(501)),
  raw('3.2.3', 'CONNECT is for proxies', 'CONNECT localhost:80 HTTP/1.1\nHost: localhost', refused(501)),
  raw('5', 'names of fields in any case', 'GET /files/film.mp4 HTTP/1.1\nhOsT: localhost\nrAnGe: bytes=1-2', { status: 206, body: ['film.mp4', 1, 2] }),
  raw('5.1', 'no blank before a colon', 'GET /files/film.mp4 HTTP/1.1\nHost : localhost', refused(400)),
  raw('5.1', 'blanks around a value', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nRange: \t bytes=1-2 \t', { status: 206, body: ['film.mp4', 1, 2] }),
  raw('5.2', 'no folded lines', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nX: a\n b', refused(400)),
  raw('5', 'no control characters', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nX: a\u0001b', refused(400)),
  raw('6.1', 'Content-Length and Transfer-Encoding (smuggling)', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nContent-Length: 5\nTransfer-Encoding: chunked', refused(400)),
  raw('6.3', 'two lengths', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nContent-Length: 5\nContent-Length: 6', refused(400)),
  raw('6.3', 'a length that is none', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nContent-Length: -5', refused(400)),
  raw('6.1', 'a coding nobody knows', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nTransfer-Encoding: frob', refused(400)),
  raw('9.3', 'HTTP/1.0 closes', 'GET /files/film.mp4 HTTP/1.0', { ...film, closes: true }),
  raw('9.3', 'HTTP/1.0 with keep-alive', 'GET /files/film.mp4 HTTP/1.0\nHost: localhost\nConnection: keep-alive', film),
  raw('9.6', 'Connection: close', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nConnection: close', { ...film, fields: { connection: 'close' }, closes: true }),
  raw('2.2', 'an empty line before the request', '\nGET /files/film.mp4 HTTP/1.1\nHost: localhost', film),
  raw('6', 'a GET with a body', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nContent-Length: 0', film),
  raw('9.8', 'an upgrade that is not known is ignored', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nConnection: Upgrade\nUpgrade: h2c', film),
  { ...raw('3', 'a head that is too large', `GET /files/film.mp4 HTTP/1.1\nHost: localhost\nX: ${'x'.repeat(17_000)}`, refused(431)), rule: '6585 5' },
  { ...raw('3', 'a target that is too long', `GET /files/${'x'.repeat(17_000)} HTTP/1.1\nHost: localhost`, refused(431)), rule: '15.5.15' },
  { ...raw('3', 'an expectation that is not known', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nExpect: miracles', { status: 417 }), rule: '10.1.1' },
  { ...raw('3', 'accepted codings change nothing: media is never encoded', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nAccept-Encoding: gzip, br, zstd', { ...film, fields: { 'content-encoding': undefined, 'content-length': String(filmLength) } }), rule: '8.4' },
  { ...raw('3', 'Accept of other types changes nothing', 'GET /files/film.mp4 HTTP/1.1\nHost: localhost\nAccept: image/webp', film), rule: '12.5.1' },
];
