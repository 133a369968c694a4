// The key of a document in its collection's dictionary: its `_id`, encoded so that bytes compare as BSON values do.

import { ByteSink, collated, decodeElement, elementValue, encodeKey, encodeRawKeyPart, FieldName, findField } from '../bson/index.ts';
import type { Document, TextOrder } from '../bson/index.ts';
import type { RecordKey } from './types.ts';

const idName = new FieldName('_id');
let shared = new ByteSink(256);

/** The key of a document that has an `_id`, in a collection of this order of texts. */
export function recordKeyOf(document: Document, order: TextOrder | undefined): RecordKey {
  const { bytes, start } = document.raw;
  const offset = findField(bytes, start, idName);
  if (offset < 0) return encodeKey([null]);
  if (order !== undefined) return encodeKey([collated(decodeElement(bytes, offset), order)]);
  const sink = shared;
  sink.length = 0;
  encodeRawKeyPart(sink, bytes, bytes[offset] as number, elementValue(bytes, offset), 1);
  if (sink.bytes.length > 65536) shared = new ByteSink(256);
  return sink.toBytes();
}
