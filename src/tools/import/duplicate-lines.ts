// Which lines of a file hold the two rows that have one key: a bulk load learns of a duplicate at its end, when the server knows the key and nothing of lines.
// So the file is read once more, and only then.

import { CommandError } from '../../base/errors.ts';
import { Document, equalValues } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { Env } from '../../env/index.ts';
import { DocumentBatch } from './document-batch.ts';
import type { FormatOptions } from './record-source.ts';
import { RecordSource } from './record-source.ts';

/** A file of rows. */
export interface ReadAgain {
  readonly file: string;
  readonly format: FormatOptions;
}

const limits = { documents: 1000, bytes: 1024 * 1024 };
const duplicateCode = 11000;

/** The error, with the lines in its text where it is of a duplicate key and the file has rows with these very values. */
export async function withDuplicateLines(env: Env, { file, format }: ReadAgain, error: unknown): Promise<unknown> {
  if (!(error instanceof CommandError) || error.code !== duplicateCode) return error;
  const keyValue = error.details.get('keyValue');
  if (!(keyValue instanceof Document)) return error;
  const source = await RecordSource.open(env, file, format);
  try {
    const lines = await linesWith(source, keyValue);
    if (lines.length < 2) return error;
    return new CommandError(error.code, error.codeName, `${error.message} (lines ${lines.join(', ')})`, { cause: error, labels: error.labels, details: error.details });
  } finally {
    await source.close();
  }
}

/** The lines of the first two documents that have these values at these paths. */
async function linesWith(source: RecordSource, keyValue: Document): Promise<number[]> {
  const batch = new DocumentBatch(limits);
  const lines: number[] = [];
  while (lines.length < 2 && (await source.fill(batch))) {
    let at = 0;
    for (let i = 0; i < batch.count && lines.length < 2; i++) {
      const document = Document.fromBytes(batch.bytes, at);
      at += document.byteLength;
      if (keyValue.fields.every(([path, value]) => equalValues(valueAt(document, path), value))) lines.push(batch.line(i));
    }
    batch.empty();
  }
  return lines;
}

/** The value at the end of a path through documents; null where there is none. */
function valueAt(document: Document, path: string): Value {
  let value: Value = document;
  for (const name of path.split('.')) value = value instanceof Document ? (value.get(name) ?? null) : null;
  return value;
}
