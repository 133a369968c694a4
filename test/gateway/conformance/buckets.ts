// Buckets that are not as they should be: never other bytes, never a 200 over a body that is not there, never the end of the process. Rules are those
// of the drivers' GridFS specification ("GridFS"), and public reports (P9).

import { get } from './case.ts';
import type { Case, Expected } from './case.ts';
import { broken, brokenDocuments, chunkyLength, evenChunk, oddDocuments } from './world.ts';

const corrupt: Expected = { status: 500, fields: { 'content-type': 'application/problem+json', 'accept-ranges': undefined }, body: { code: 'corrupt_file' } };
const quote = (name: string): string => `/files/${encodeURIComponent(name)}`;
const head = (name: string, target: string): Case => ({ rule: 'GridFS', name, method: 'HEAD', target, expected: { status: 500, body: '' } });

/** Ranges within chunks that are there, and within the one that is not. */
const partly = broken.filter(([, , n]) => n > 0).flatMap(([name, , n]): Case[] => [
  get('GridFS', `${name}: the bytes before the fault are right`, { target: quote(`broken ${name}`), fields: { Range: `bytes=0-${n * evenChunk - 1}` } }, { status: 206, body: [`broken ${name}`, 0, n * evenChunk - 1] }),
  get('GridFS', `${name}: a range that begins at the fault`, { target: quote(`broken ${name}`), fields: { Range: `bytes=${n * evenChunk}-` } }, corrupt),
  get('GridFS', `${name}: a range across the fault`, { target: quote(`broken ${name}`), fields: { Range: `bytes=${n * evenChunk - 1}-${n * evenChunk}` } }, corrupt),
]);

/** Only what is asked for is read: a fault before it is nothing to it. */
const behind = (['first missing', 'second missing', 'middle missing', 'middle short', 'middle long', 'n is missing'] as const).map((name): Case => {
  const n = broken.find(([one]) => one === name)![2];
  const [first, last] = [(n + 1) * evenChunk, chunkyLength - 1];
  return get('GridFS', `${name}: the bytes behind the fault are right`, { target: quote(`broken ${name}`), fields: { Range: `bytes=${first}-` } }, { status: 206, body: [`broken ${name}`, first, last] });
});

/** All of them. */
export const bucketCases: readonly Case[] = [
  ...broken.map(([name]) => get('GridFS', `${name} (P9)`, { target: quote(`broken ${name}`) }, corrupt)),
  ...broken.filter(([, , n]) => n === 0).map(([name]) => head(`${name}: HEAD`, quote(`broken ${name}`))),
  ...partly,
  ...behind,
  ...brokenDocuments.flatMap(([name]): Case[] => [get('GridFS', name, { target: quote(`document ${name}`) }, corrupt), get('GridFS', `${name}: a range`, { target: quote(`document ${name}`), fields: { Range: 'bytes=0-1' } }, corrupt), head(`${name}: HEAD`, quote(`document ${name}`))]),
  ...oddDocuments.map(([name]) => get('GridFS', `${name}: read all the same`, { target: quote(`odd ${name}`) }, { status: 200, fields: { 'content-length': String(chunkyLength), 'x-evil': undefined }, body: [`odd ${name}`, 0, chunkyLength - 1] })),
  ...oddDocuments.map(([name]) => get('GridFS', `${name}: a range`, { target: quote(`odd ${name}`), fields: { Range: 'bytes=999-1000' } }, { status: 206, body: [`odd ${name}`, 999, 1000] })),
  ...[0, 5, 10].map((n) => get('GridFS', `chunk ${n} twice, in a bucket without its index`, { target: `/b/bare/name/twice%20${n}` }, corrupt)),
  get('GridFS', 'a bucket without indexes', { target: '/b/bare/name/whole', fields: { Range: 'bytes=999-1000' } }, { status: 206, body: ['chunky.mp4', 999, 1000] }),
  get('GridFS', 'an empty file that has an empty chunk', { target: '/files/empty%20with%20a%20chunk.mp4' }, { status: 200, fields: { 'content-length': '0' }, body: '' }),
  get('GridFS', 'chunks of nobody are no file', { target: '/b/fs/id/s:nobody' }, { status: 404, body: { code: 'not_found' } }),
];
