// The face of the BSON layer: typed values, documents over raw bytes, validation, order, paths, keys, numbers and text. Nothing else
// of the product imports the package `bson` or knows how BSON lies in memory.

export { firstElement } from './array-walk.ts';
export { NameTable } from './name-table.ts';
export { ByteSink } from './byte-sink.ts';
export { Decimal128 } from './decimal128.ts';
export { describeField, describeValue } from './describe.ts';
export { BsonArray, CodeWithScope, decodeElement, decodeValue, Document, typeOf } from './document.ts';
export type { Documents } from './document.ts';
export { DocumentList } from './document-list.ts';
export type { Value } from './document.ts';
export { chunkedLength, documentChunks } from './document-chunks.ts';
export type { NumberValue, ScalarValue } from './scalar-codec.ts';
export { classOf, classOfTypeByte, compareRaw, compareStrings, compareValues, equalValues, isNumber, typeClass } from './compare.ts';
export type { TextOrder, TypeClass } from './compare.ts';
export { collated, comparerOf, hasText } from './text-order.ts';
export type { Comparer } from './text-order.ts';
export { encodeKey, encodeKeyPart, encodeRawKeyPart, encodeStringPrefix, keyAfter, typeBracket } from './key.ts';
export type { KeyBracket, KeyDirection } from './key.ts';
export { KeyBitsWriter, keyTypeBits } from './key-bits.ts';
export { decodeKey, skipKeyField } from './key-decode.ts';
export { hashValue } from './hash.ts';
export {
  absNumber,
  addChecked,
  addNumbers,
  divideNumbers,
  fitsInt32,
  fitsInt64,
  isNaNNumber,
  isZero,
  modNumbers,
  multiplyChecked,
  multiplyNumbers,
  narrowInteger,
  negateNumber,
  subtractNumbers,
  toDecimal,
  toDouble,
  toInt32,
  toInt64,
  truncateNumber,
  wholeNumber,
} from './number.ts';
export {
  ceilNumber,
  expNumber,
  floorNumber,
  lnNumber,
  log10Number,
  logNumber,
  powNumbers,
  roundNumber,
  sqrtNumber,
} from './number-round.ts';
export { NumberSum } from './number-sum.ts';
export type { RoundingMode } from './decimal.ts';
export { compareNumbers } from './number-order.ts';
export { toExtendedJson } from './extended-json.ts';
export type { ExtendedJsonMode } from './extended-json.ts';
export { fromExtendedJson } from './extended-json-read.ts';
export { ObjectId, ObjectIdGenerator } from './object-id.ts';
export type { ObjectIdSources } from './object-id.ts';
export {
  bsonType,
  decodeName,
  elementEnd,
  elementValue,
  FieldName,
  findElement,
  findField,
  readDouble,
  readInt32,
  writeInt32,
  readInt64,
  readUint32,
  typeCodeOf,
  typeNameOf,
  valueEnd,
} from './raw.ts';
export type { BsonType, RawView, TypeName } from './raw.ts';
export {
  Binary,
  BsonSymbol,
  bsonUndefined,
  Code,
  DateTime,
  DbPointer,
  Double,
  maxKey,
  minKey,
  Regex,
  Timestamp,
} from './scalar.ts';
export type { BsonUndefined, MaxKey, MinKey } from './scalar.ts';
export { getField, parsePath, visitPath } from './path.ts';
export type { Path, PathPart, PathVisitor } from './path.ts';
export { storedDepthMax, validateDocument } from './validate.ts';
export type { ValidationLimits } from './validate.ts';
export { BsonWriter, item } from './writer.ts';
