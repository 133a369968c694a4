// A file document as drivers write it, read with all that is seen in the wild: lengths and chunk sizes of any number type, ids of any type,
// dates, names or types that are missing or something else. What cannot be read is a fault of the file, not an exception.

import { createHash } from 'node:crypto';
import { DateTime, Document, encodeKey, isNumber, toExtendedJson, wholeNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { chunkSizeMax } from './file-store.ts';
import type { StoredFile } from './file-store.ts';
import { FileId } from './file-id.ts';

/** Files that were read lately, by the bytes of their documents: players ask for the same file many times a second. */
const known: Map<string, StoredFile> = new Map();
const knownMax = 500;
const knownBytesMax = 2048;
const latin1 = new TextDecoder('latin1');

/** The document as the face shows it. */
export function readFileDocument(document: Document): StoredFile {
  const bytes = document.toBytes();
  if (bytes.length > knownBytesMax) return read(document);
  // Each byte is a character of its own, so equal texts are equal bytes.
  const text = latin1.decode(bytes);
  const found = known.get(text);
  if (found !== undefined) return found;
  const file = read(document);
  if (known.size >= knownMax) known.clear();
  known.set(text, file);
  return file;
}

function read(document: Document): StoredFile {
  const id = document.get('_id') ?? null;
  const length = wholeSize(document.get('length'));
  const uploadDateMs = dateIn(document.get('uploadDate'));
  const filename = document.get('filename');
  const metadata = document.get('metadata');
  const inside = metadata instanceof Document ? metadata : Document.empty;
  return {
    id: FileId.of(id),
    filename: typeof filename === 'string' ? filename : undefined,
    ...sizesOf(length, wholeSize(document.get('chunkSize'))),
    uploadDateMs,
    contentType: textIn(document.get('contentType')) ?? textIn(inside.get('contentType')),
    sha256: digestIn(inside.get('sha256')),
    metadata: metadata === undefined ? undefined : toExtendedJson(metadata, 'relaxed'),
    version: versionOf(id, length ?? -1, uploadDateMs ?? -1),
  };
}

function sizesOf(length: number | undefined, chunkSize: number | undefined): Pick<StoredFile, 'length' | 'chunkSize' | 'chunkCount' | 'fault'> {
  const fault = faultOf(length, chunkSize);
  if (length === undefined || chunkSize === undefined || fault !== undefined) return { length: 0, chunkSize: 0, chunkCount: 0, fault };
  return { length, chunkSize, chunkCount: length === 0 ? 0 : Math.ceil(length / chunkSize), fault };
}

function dateIn(value: Value | undefined): number | undefined {
  return value instanceof DateTime && Math.abs(value.ms) <= dateMsMax ? value.ms : undefined;
}

/** Dates beyond this have no calendar date in JavaScript. */
const dateMsMax = 8.64e15;

function wholeSize(value: Value | undefined): number | undefined {
  if (!isNumber(value)) return undefined;
  const whole = wholeNumber(value);
  return whole !== undefined && whole >= 0n && whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : undefined;
}

function faultOf(length: number | undefined, chunkSize: number | undefined): string | undefined {
  if (length === undefined) return 'the length of the file is not a number of bytes';
  if (length === 0) return undefined;
  if (chunkSize === undefined || chunkSize === 0) return 'the chunk size of the file is not a number of bytes';
  return chunkSize > chunkSizeMax * 2 ? 'the chunk size of the file is larger than a document can be' : undefined;
}

const textIn = (value: Value | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const digestIn = (value: Value | undefined): string | undefined => (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : undefined);

/** Bytes never change under one id, length and date: a file that is put in the place of another has another id, or at least another date. */
function versionOf(id: Value, length: number, uploadDateMs: number): string {
  const digest = createHash('sha256').update(encodeKey([id])).update(`-${length}-${uploadDateMs}`).digest('base64url');
  return digest.slice(0, 22);
}
