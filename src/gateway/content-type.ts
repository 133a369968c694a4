// The type a stored file is sent with. What a bucket says is taken only from a list of types known to be harmless when a browser shows them, and
// of types that run scripts in a page, which are sandboxed and saved rather than shown; anything else is bytes.

import { lookup } from 'mrmime';

/** How a file is sent. */
export interface SentType {
  /** The value of Content-Type. */
  readonly type: string;
  /** Whether a browser may show it in place. */
  readonly inline: boolean;
  /** Whether it can run scripts: it gets a sandbox, and is never shown in place. */
  readonly active: boolean;
}

const bytes = 'application/octet-stream';
const shown: ReadonlySet<string> = new Set(['application/pdf', 'application/json', 'application/ogg', 'text/plain', 'text/vtt', 'text/csv', 'text/markdown']);
const saved: ReadonlySet<string> = new Set([
  'application/zip', 'application/gzip', 'application/x-tar', 'application/x-7z-compressed', 'application/zstd', 'application/epub+zip', 'application/msword', 'application/rtf',
  'application/vnd.ms-excel', 'application/vnd.ms-powerpoint', 'application/x-subrip', 'application/vnd.apple.mpegurl', 'application/dash+xml',
]);
const active: ReadonlySet<string> = new Set([
  'text/html', 'application/xhtml+xml', 'image/svg+xml', 'text/xml', 'application/xml', 'text/xsl', 'text/javascript', 'application/javascript', 'application/ecmascript', 'text/css',
  'application/x-shockwave-flash', 'multipart/x-mixed-replace', 'message/rfc822', 'application/mathml+xml',
]);
const mediaFamilies = /^(video|audio|image|font)\/[\w.+-]+$/;
const officeFamilies = /^application\/vnd\.(openxmlformats-officedocument|oasis\.opendocument)\./;
/** Names in use for types that have another one, which browsers want. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['video/x-m4v', 'video/mp4'], ['audio/x-m4a', 'audio/mp4'], ['audio/x-wav', 'audio/wav'], ['image/jpg', 'image/jpeg'], ['application/mp4', 'video/mp4'], ['video/mov', 'video/quicktime'],
]);

/** From the stored type, else from the extension of the name. */
export function sentType(stored: string | undefined, filename: string | undefined): SentType {
  return known(essence(stored), charsetOf(stored)) ?? known(typeOfName(filename)) ?? { type: bytes, inline: false, active: false };
}

/** The type by itself, in small letters; undefined if it is none. A generic one says nothing: the name may know better. */
function essence(stored: string | undefined): string | undefined {
  const text = stored?.split(';', 1)[0]?.trim().toLowerCase();
  if (text === undefined || text === bytes || !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(text)) return undefined;
  return aliases.get(text) ?? text;
}

function typeOfName(filename: string | undefined): string | undefined {
  return filename === undefined ? undefined : essence(lookup(filename));
}

function known(type: string | undefined, charset = 'utf-8'): SentType | undefined {
  if (type === undefined) return undefined;
  const whole = type.startsWith('text/') ? `${type}; charset=${charset}` : type;
  if (active.has(type) || (type.endsWith('+xml') && !saved.has(type))) return { type: whole, inline: false, active: true };
  if (shown.has(type) || mediaFamilies.test(type)) return { type: whole, inline: true, active: false };
  return saved.has(type) || officeFamilies.test(type) ? { type, inline: false, active: false } : undefined;
}

function charsetOf(stored: string | undefined): string | undefined {
  return /;\s*charset="?([\w-]+)"?\s*(?:;|$)/i.exec(stored ?? '')?.[1]?.toLowerCase();
}
