// Rows of the side dictionary of a unique index that is being built. Key: the encoded fields, then the record key, as of an index that is not
// unique; value: a byte, whether the document has the key, and the value of such an index. So writers never meet each other there.

import { concatBytes } from '../base/bytes.ts';
import { rowValue } from './index-row.ts';
import type { StoredIndex } from './stored-index.ts';

const said = { gone: 0, there: 1 } as const;

/** What a writer puts beside a unique index that is being built: that the document has the key, or has it no more. */
export function sideValue(value: Uint8Array, isThere: boolean): Uint8Array {
  return concatBytes([Uint8Array.of(isThere ? said.there : said.gone), value]);
}

/** What a writer said: of which key and document, and the row's value in the index; undefined: it is gone. */
export function readSide(index: StoredIndex, key: Uint8Array, value: Uint8Array): { key: Uint8Array; recordKey: Uint8Array; value: Uint8Array | undefined } {
  const { fields, recordKey, typeBits, document } = index.entryOfSide(key, value.subarray(1));
  const isThere = value[0] === said.there;
  return { key: fields.slice(), recordKey: recordKey.slice(), value: isThere ? rowValue(true, recordKey, document ?? typeBits) : undefined };
}
