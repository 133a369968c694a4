// What may change of a stored file: its name and its metadata. Bytes, length, date and digest never do: another file takes their place. Metadata
// is merged field by field, as RFC 7396 merges objects, at its top level only; values are Extended JSON, so none loses its type.

import { Document, fromExtendedJson } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { FileError } from './file-error.ts';
import type { FileChange } from './file-store.ts';

/** The fields of a change, read: `metadata` is undefined where none of it changes. FileError `bad-name`, `bad-metadata`. */
export interface ReadChange {
  readonly filename: string | undefined;
  /** Null takes a field away. */
  readonly metadata: readonly (readonly [string, Value])[];
}

/** Checks a change before anything is looked up. */
export function readChange({ filename, metadata }: FileChange): ReadChange {
  if (filename !== undefined && (filename === '' || filename.includes('\0'))) throw new FileError('bad-name', 'a file needs a name, without null bytes');
  return { filename, metadata: [...metadata].map(([name, json]) => [checkedField(name), readValue(name, json)]) };
}

function checkedField(name: string): string {
  if (name === 'sha256') throw new FileError('bad-metadata', 'the digest of a file cannot be changed');
  if (name === '' || name.startsWith('$') || name.includes('.') || name.includes('\0')) throw new FileError('bad-metadata', `metadata has no field ${JSON.stringify(name)}`);
  return name;
}

function readValue(name: string, json: string): Value {
  try {
    return fromExtendedJson(json);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new FileError('bad-metadata', `the metadata field ${name} is no value: ${error.message}`, { cause: error });
  }
}

/** The document with the change made. Everything else stays where it is. */
export function changedDocument(document: Document, change: ReadChange): Document {
  const fields = new Map<string, Value>(document.fields);
  if (change.filename !== undefined) fields.set('filename', change.filename);
  if (change.metadata.length > 0) {
    const old = fields.get('metadata');
    fields.set('metadata', merged(old instanceof Document ? old : Document.empty, change.metadata));
  }
  return Document.fromEntries([...fields]);
}

function merged(old: Document, changes: ReadChange['metadata']): Document {
  const fields = new Map<string, Value>(old.fields);
  for (const [name, value] of changes) {
    if (value === null) fields.delete(name);
    else fields.set(name, value);
  }
  return Document.fromEntries([...fields]);
}
