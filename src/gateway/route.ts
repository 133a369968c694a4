// From the target of a request to what it means: a table of paths (gateway.md, section 7). Names and ids are percent-decoded UTF-8 and may have
// slashes; a path that does not decode, or has a null byte, is refused before anybody looks it up. Every path also exists below /db/{db}.

import { HttpError } from '../base/errors.ts';

/** What a path stands for. `name`: a file name, or an id as text. */
export interface Route {
  readonly kind: RouteKind;
  readonly db: string;
  readonly bucket: string;
  readonly name: string;
  readonly query: URLSearchParams;
  /** Whether there is any: asked of each request, and the list of parameters is slow to tell. */
  readonly hasQuery: boolean;
}

export type RouteKind = 'named-file' | 'file' | 'files' | 'file-document' | 'check' | 'link' | 'uploads' | 'upload' | 'health' | 'metrics' | 'page' | 'status-page' | 'status-data' | 'asset';

/** A path's segments, still encoded: a word, `*` for any one segment, `**` for the rest. */
interface PathRow {
  readonly kind: RouteKind;
  readonly segments: readonly string[];
}

const bucketDefault = 'fs';
const paths: readonly PathRow[] = [
  { kind: 'named-file', segments: ['files', '**'] },
  { kind: 'named-file', segments: ['b', '*', 'name', '**'] },
  { kind: 'file', segments: ['b', '*', 'id', '**'] },
  { kind: 'files', segments: ['b', '*', 'files'] },
  { kind: 'check', segments: ['b', '*', 'files', '*', 'check'] },
  { kind: 'link', segments: ['b', '*', 'files', '*', 'link'] },
  { kind: 'file-document', segments: ['b', '*', 'files', '*'] },
  { kind: 'uploads', segments: ['b', '*', 'uploads'] },
  { kind: 'upload', segments: ['b', '*', 'uploads', '*'] },
  { kind: 'health', segments: ['healthz'] },
  { kind: 'metrics', segments: ['metrics'] },
  { kind: 'status-page', segments: ['status'] },
  { kind: 'status-data', segments: ['status.json'] },
  { kind: 'page', segments: [''] },
  { kind: 'asset', segments: ['assets', '*'] },
  { kind: 'asset', segments: ['favicon.ico'] },
];

/** Routes of short targets that were asked for lately: players ask for one many times a second. */
const known: Map<string, Route> = new Map();
const knownMax = 200;
const knownTargetMax = 200;

/** The route of a request target; undefined where there is none. HttpError 400 `bad_name` for a path that does not decode. */
export function routeOf(target: string, dbDefault: string): Route | undefined {
  const key = `${dbDefault} ${target}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const route = readTarget(target, dbDefault);
  if (route === undefined || target.length > knownTargetMax) return route;
  if (known.size >= knownMax) known.clear();
  known.set(key, route);
  return route;
}

function readTarget(target: string, dbDefault: string): Route | undefined {
  const { path, query } = splitTarget(target);
  if (path === undefined) return undefined;
  const segments = path.slice(1).split('/');
  const [first, db] = segments;
  const elsewhere = first === 'db' && db !== undefined && segments.length > 2;
  const given = elsewhere ? segments.slice(2) : segments;
  for (const { kind, segments: pattern } of paths) {
    const free = matchSegments(pattern, given);
    if (free === undefined) continue;
    const decoded = free.map(decodeSegment);
    const bucket = pattern[0] === 'b' ? decoded.shift() : bucketDefault;
    const name = decoded.join('/');
    return { kind, db: elsewhere ? decodeSegment(db) : dbDefault, bucket: bucket ?? bucketDefault, name, query: new URLSearchParams(query), hasQuery: query !== '' };
  }
  return undefined;
}

/** The segments that the pattern's stars stand for. */
function matchSegments(pattern: readonly string[], segments: readonly string[]): readonly string[] | undefined {
  const free: string[] = [];
  for (const [i, word] of pattern.entries()) {
    const segment = segments[i];
    if (segment === undefined) return undefined;
    if (word === '**') return [...free, ...segments.slice(i)];
    if (word === '*' && segment === '') return undefined;
    if (word === '*') free.push(segment);
    else if (word !== segment) return undefined;
  }
  return pattern.length === segments.length ? free : undefined;
}

/** The path and the query of a target in origin form or absolute form (RFC 9112, 3.2). */
function splitTarget(target: string): { readonly path: string | undefined; readonly query: string } {
  const origin = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? target;
  const local = origin === '' || origin.startsWith('?') ? `/${origin}` : origin;
  const [path = '', ...query] = (local.split('#', 1)[0] ?? '').split('?');
  return { path: path.startsWith('/') ? path : undefined, query: query.join('?') };
}

function decodeSegment(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch (error) {
    throw new HttpError(400, 'bad_name', 'the path is not percent-encoded UTF-8', { cause: error });
  }
  if (text.includes('\0')) throw new HttpError(400, 'bad_name', 'a name has no null bytes');
  return text;
}

/** The path of a file by its id, below `base` (empty, or /db/{db}). */
export function filePath(base: string, bucket: string, id: string): string {
  return `${base}/b/${encodeURIComponent(bucket)}/id/${encodeURIComponent(id)}`;
}

/** The path of the newest file of a name, whose slashes stay: what is named relative to it lies beside it. */
export function namePath(base: string, bucket: string, name: string): string {
  return `${base}/b/${encodeURIComponent(bucket)}/name/${name.split('/').map(encodeURIComponent).join('/')}`;
}

/** The path of an upload that is under way. */
export function uploadPath(base: string, bucket: string, id: string): string {
  return `${base}/b/${encodeURIComponent(bucket)}/uploads/${encodeURIComponent(id)}`;
}

/** What is before every path of a database that is not the one served by default. */
export function basePath(db: string, dbDefault: string): string {
  return db === dbDefault ? '' : `/db/${encodeURIComponent(db)}`;
}
