// The head of a file's answers: validators, type, disposition and caching (gateway.md, section 3). One place, so that 200, 206, 304 and 416 say
// the same of the same file.

import type { OutgoingHttpHeaders } from 'node:http';
import { encodeBase64 } from '../base/base64.ts';
import type { StoredFile } from '../gridfs/index.ts';
import { contentDisposition } from './content-disposition.ts';
import { sentType } from './content-type.ts';
import { formatHttpDate } from './http-date.ts';
import type { Validators } from './precondition.ts';

/** What a file is known by. A date in the future would let caches keep the file until then. */
export function validatorsOf(file: StoredFile, nowMs: number): Validators {
  const { uploadDateMs } = file;
  const lastModifiedMs = uploadDateMs === undefined || uploadDateMs < 0 ? undefined : Math.floor(Math.min(uploadDateMs, nowMs) / 1000) * 1000;
  return { etag: `"${file.version}"`, lastModifiedMs };
}

/** The fields that 200, 206 and 304 have in common. */
export function validatorFields({ etag, lastModifiedMs }: Validators, cacheControl: string): OutgoingHttpHeaders {
  return { ETag: etag, 'Cache-Control': cacheControl, ...(lastModifiedMs === undefined ? {} : { 'Last-Modified': formatHttpDate(lastModifiedMs) }) };
}

/** The fields that say how to take the bytes. `query`: `download` saves, `inline` shows what may be shown. `isShownElsewhere`: pages of other sites may show it. */
function contentFields(file: StoredFile, query: URLSearchParams, isShownElsewhere: boolean): OutgoingHttpHeaders {
  const { inline, active } = sentType(file.contentType, file.filename);
  const asked = isOn(query.get('download')) ? 'attachment' : 'inline';
  const inert = !inline && !active && isOn(query.get('inline'));
  const kind = asked === 'inline' && (inline || inert) ? 'inline' : 'attachment';
  return {
    'Accept-Ranges': 'bytes',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
    'Content-Disposition': contentDisposition(kind, file.filename),
    'Cross-Origin-Resource-Policy': isShownElsewhere ? 'cross-origin' : 'same-site',
    ...(active ? { 'Content-Security-Policy': "default-src 'none'; sandbox" } : {}),
    ...(file.sha256 === undefined ? {} : { 'Repr-Digest': digestField(file.sha256) }),
  };
}

const digestFields: Map<string, string> = new Map();
const digestFieldsMax = 1000;

/** The value of Repr-Digest; a player asks for the same file again and again. */
function digestField(sha256: string): string {
  const known = digestFields.get(sha256);
  if (known !== undefined) return known;
  if (digestFields.size >= digestFieldsMax) digestFields.clear();
  const field = `sha-256=:${encodeBase64(fromHex(sha256))}:`;
  digestFields.set(sha256, field);
  return field;
}

/** What the fields of a file depend on. */
interface FieldChoices {
  readonly validators: Validators;
  readonly cacheControl: string;
  readonly query: URLSearchParams;
  readonly hasQuery: boolean;
  readonly isShownElsewhere: boolean;
}

/** Lists that were made, by the file as it was read and by what else they depend on. */
const fieldLists: WeakMap<StoredFile, Map<string, readonly string[]>> = new WeakMap();
const listsOfFileMax = 10;

/** All fields that do not depend on the range, names and values in turn. */
export function fileFields(file: StoredFile, choices: FieldChoices): readonly string[] {
  const { validators, cacheControl, query, hasQuery, isShownElsewhere } = choices;
  const key = `${validators.lastModifiedMs ?? ''} ${cacheControl} ${isShownElsewhere ? 'elsewhere' : 'here'} ${hasQuery ? `${query.get('download') ?? '-'} ${query.get('inline') ?? '-'}` : ''}`;
  const lists = fieldLists.get(file);
  const known = lists?.get(key);
  if (known !== undefined) return known;
  const fields = { ...validatorFields(validators, cacheControl), ...contentFields(file, query, isShownElsewhere) };
  const list = Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
  if (lists === undefined || lists.size >= listsOfFileMax) fieldLists.set(file, new Map([[key, list]]));
  else lists.set(key, list);
  return list;
}

const isOn = (value: string | null): boolean => value !== null && value !== '0' && value !== 'false';

/** The bytes of pairs of hex digits. */
export function fromHex(digits: string): Uint8Array {
  return Uint8Array.from({ length: digits.length >> 1 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}
