// Messages that no honest client sends: whole ones with something wrong in them, by structure rather than by chance alone, so that they come
// past the first check: lengths that lie, sections that overlap, compression that claims what is not there, nesting, bombs, patterns
// without end. From a seed, so that any can be had again.

import { deflateSync } from 'node:zlib';
import { concatBytes } from '../../src/base/bytes.ts';
import { BsonArray, Document, Double, Regex, type Value } from '../../src/bson/index.ts';
import { commandNames } from '../../src/command/index.ts';
import { encodeMessage, encodeQuery } from '../../src/wire/index.ts';
import type { SimRandom } from '../sim/sim-random.ts';

/** What is sent, and whether the connection is closed right behind it. */
export interface HostileMessage {
  readonly kind: string;
  readonly chunks: readonly Uint8Array[];
  readonly closesAtOnce: boolean;
}

type Make = (random: SimRandom) => Uint8Array[];

/** Commands that would end the server or stop everybody, which an honest administrator may do. */
const leftOut = new Set(['shutdown', 'fsync', 'fsyncUnlock', 'setParameter', 'configureFailPoint', 'dropConnections', 'setUserWriteBlockMode', 'logRotate', 'killAllSessions', 'killAllSessionsByPattern']);
const names = commandNames().filter((name) => !leftOut.has(name));
const lies = [0, 1, 4, 5, -1, -2147483648, 2147483647, 48_000_001, 16, 255, 65_536];
const words = ['filter', 'query', 'q', 'u', 'update', 'updates', 'deletes', 'documents', 'pipeline', 'cursor', 'indexes', 'key', 'sort', 'limit', 'let', 'hint', 'lsid', 'txnNumber', 'ops', 'nsInfo'];
const operators = ['$gt', '$in', '$and', '$or', '$not', '$expr', '$elemMatch', '$regex', '$set', '$push', '$each', '$group', '$match', '$lookup', '$unwind', '$where', '$jsonSchema', '$cond', '$map', '$reduce', '$range'];

function message(body: Document, options: Parameters<typeof encodeMessage>[2] = {}): Uint8Array[] {
  return encodeMessage({ requestId: 7, responseTo: 0 }, body, options);
}

function putInt32(bytes: Uint8Array, offset: number, value: number): void {
  if (offset + 4 <= bytes.length) new DataView(bytes.buffer, bytes.byteOffset).setInt32(offset, value, true);
}

function randomValue(random: SimRandom, depth: number): Value {
  const scalars: readonly Value[] = [null, true, -1, 2147483647, -9223372036854775808n, new Double(0.5), '', 'fuzz', '$x', 'a.b.c', '\u{1F600}', new Regex('(a+)+$', 'i')];
  const choice = random.below(depth > 4 ? scalars.length : scalars.length + 6);
  const scalar = scalars[choice];
  if (choice < scalars.length) return scalar ?? null;
  if (choice % 2 === 0) return BsonArray.of(Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1)));
  return randomDocument(random, depth + 1);
}

function randomDocument(random: SimRandom, depth: number): Document {
  const fields: [string, Value][] = [];
  for (let left = random.below(4); left >= 0; left--) {
    const name = random.below(3) === 0 ? random.pick(words) : random.below(2) === 0 ? random.pick(operators) : random.pick(['a', '_id', 'x.y', '0', '']);
    fields.push([name, randomValue(random, depth)]);
  }
  return Document.fromEntries(fields);
}

function randomCommand(random: SimRandom): Document {
  const fields: [string, Value][] = [[random.pick(names), random.below(4) === 0 ? randomValue(random, 0) : 'fuzz']];
  for (let left = random.below(5); left > 0; left--) fields.push([random.pick(words), randomValue(random, 0)]);
  fields.push(['$db', random.below(5) === 0 ? 'admin' : 'fuzz']);
  return Document.fromEntries(fields);
}

const insert = Document.of({ insert: 'fuzz', documents: BsonArray.of([Document.of({ a: 1, text: 'x'.repeat(50) })]), $db: 'fuzz' });

/** Nested documents, written by hand: `depth` levels of one field each. */
function nested(depth: number, type: number): Uint8Array {
  const size = 8 * depth + 5;
  const bytes = new Uint8Array(size);
  for (let level = 0; level < depth; level++) {
    const at = level * 7;
    putInt32(bytes, at, size - level * 8);
    bytes[at + 4] = type;
    bytes[at + 5] = 0x61;
  }
  putInt32(bytes, depth * 7, 5);
  return bytes;
}

function withRawField(name: string, raw: Uint8Array): Uint8Array[] {
  const head = Document.of({ find: 'fuzz', $db: 'fuzz' }).toBytes();
  const key = new TextEncoder().encode(name);
  const body = new Uint8Array(head.length + 2 + key.length + raw.length);
  body.set(head.subarray(0, -1));
  body[head.length - 1] = 3;
  body.set(key, head.length);
  body.set(raw, head.length + key.length + 1);
  putInt32(body, 0, body.length);
  const header = new Uint8Array(21);
  putInt32(header, 0, header.length + body.length);
  putInt32(header, 12, 2013);
  return [header, body];
}

/** OP_COMPRESSED with claims of its own. */
function squeezed(random: SimRandom): Uint8Array[] {
  const [head, ...rest] = message(insert);
  const content = concatBytes([head ?? new Uint8Array(0), ...rest]).subarray(16);
  const packed = random.below(4) === 0 ? deflateSync(new Uint8Array(random.pick([1 << 20, 48_000_000]))) : deflateSync(content);
  const bytes = new Uint8Array(25 + packed.length);
  putInt32(bytes, 0, bytes.length);
  putInt32(bytes, 12, 2012);
  putInt32(bytes, 16, random.pick([2013, 2012, 2004, 1, -1]));
  putInt32(bytes, 20, random.below(2) === 0 ? content.length : random.pick(lies));
  bytes[24] = random.pick([2, 2, 2, 0, 1, 3, 9, 255]);
  bytes.set(packed, 25);
  return [bytes];
}

function lyingLength(random: SimRandom): Uint8Array[] {
  const bytes = concatBytes(message(random.below(2) === 0 ? insert : randomCommand(random)));
  for (let left = random.below(3); left >= 0; left--) putInt32(bytes, random.below(Math.max(1, bytes.length - 4)), random.pick(lies));
  return [bytes];
}

const makers: readonly (readonly [string, Make])[] = [
  ['random command', (random) => message(randomCommand(random))],
  ['random command by OP_QUERY', (random) => encodeQuery({ requestId: 7, responseTo: 0 }, random.pick(['admin.$cmd', 'fuzz.$cmd', 'fuzz.x', '', '$cmd']), randomCommand(random))],
  ['flipped bits', (random) => {
    const bytes = concatBytes(message(randomCommand(random)));
    for (let left = random.below(6); left >= 0; left--) bytes[random.below(bytes.length)] = random.below(256);
    return [bytes];
  }],
  ['lying lengths', lyingLength],
  ['lying header', (random) => {
    const bytes = concatBytes(message(insert));
    putInt32(bytes, random.pick([0, 12, 16]), random.pick([...lies, 2004, 2010, 2011, 2012]));
    return [bytes];
  }],
  ['sections', (random) => {
    const documents = Array.from({ length: random.below(3) }, () => randomDocument(random, 2));
    const sequences = Array.from({ length: random.below(3) }, () => ({ name: random.pick([...words, '']), documents }));
    const bytes = concatBytes(message(randomCommand(random), { sequences, checksum: random.below(3) === 0 }));
    if (random.below(2) === 0) bytes[20] = random.below(4);
    return [bytes];
  }],
  ['compressed', squeezed],
  ['nesting', (random) => withRawField('filter', nested(random.pick([99, 180, 181, 1000, 100_000]), random.pick([3, 4])))],
  ['deep filter', (random) => {
    let filter = Document.of({ a: 1 });
    for (let left = random.pick([10, 50, 90]); left > 0; left--) filter = Document.of({ [random.pick(['$and', '$or', '$nor'])]: BsonArray.of([filter]) });
    return message(Document.of({ find: 'fuzz', filter, $db: 'fuzz' }));
  }],
  ['pattern without end', () => message(Document.of({ find: 'fuzz', filter: Document.of({ text: new Regex('^(x+x+)+y$', '') }), $db: 'fuzz' }))],
  ['wide filter', (random) => message(Document.of({ find: 'fuzz', filter: Document.of({ a: Document.of({ $in: BsonArray.of(Array.from({ length: random.pick([1000, 100_000]) }, (_, i) => i)) }) }), $db: 'fuzz' }))],
  ['big range', () => message(Document.of({ aggregate: 1, pipeline: BsonArray.of([Document.of({ $documents: BsonArray.of([Document.of({ a: Document.of({ $range: BsonArray.of([0, 2_000_000_000]) }) })]) })]), cursor: Document.empty, $db: 'fuzz' }))],
];

/** The next message of a seed. */
export function hostileMessage(random: SimRandom): HostileMessage {
  const [kind, make] = random.pick(makers);
  const chunks = make(random);
  if (random.below(5) !== 0) return { kind, chunks, closesAtOnce: random.below(10) === 0 };
  const whole = concatBytes(chunks);
  return { kind: `${kind}, cut`, chunks: [whole.subarray(0, random.below(whole.length))], closesAtOnce: random.below(2) === 0 };
}
