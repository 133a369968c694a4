// Reads ICU's data package (`icudt57l.dat`, little endian) as far as collation needs it: the table of contents, resource bundles of format 1
// to 3 without a pool, and the tries and string tries inside collation data. Layouts follow the comments of ICU's public headers
// (ucmndata.h, uresdata.h, utrie2_impl.h, ucharstrie.h, collationdatareader.h).

import { AssertionError } from '../../src/base/errors.ts';

/** A part of the package, as it lies there. */
export type Part = DataView;

const part = (view: DataView, start: number, end: number): Part => new DataView(view.buffer, view.byteOffset + start, end - start);
const cstring = (view: DataView, at: number): string => {
  let text = '';
  for (let i = at; view.getUint8(i) !== 0; i++) text += String.fromCharCode(view.getUint8(i));
  return text;
};

/** The items of a package, by name without the package's own. */
export function readPackage(bytes: Uint8Array): ReadonlyMap<string, Part> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = view.getUint16(0, true);
  const count = view.getUint32(start, true);
  const items = new Map<string, Part>();
  for (let i = 0; i < count; i++) {
    const at = start + 4 + 8 * i;
    const name = cstring(view, start + view.getUint32(at, true));
    const from = start + view.getUint32(at + 4, true);
    const to = i + 1 < count ? start + view.getUint32(at + 12, true) : view.byteLength;
    items.set(name.slice(name.indexOf('/') + 1), part(view, from, to));
  }
  return items;
}

/** A resource: tables as maps; of the rest only what collation bundles hold. */
export type Resource = string | Part | ReadonlyMap<string, Resource> | undefined;

/** The root table of a resource bundle. */
export function readBundle(item: Part): ReadonlyMap<string, Resource> {
  const base = part(item, item.getUint16(0, true), item.byteLength);
  const root = readResource(base, base.getUint32(0, true));
  return root instanceof Map ? root : new Map<string, Resource>();
}

function readResource(base: DataView, word: number): Resource {
  const offset = word & 0x0fffffff;
  const units = 4 * base.getUint32(8, true); // URES_INDEX_KEYS_TOP: the 16-bit units begin there
  switch (word >>> 28) {
    case 0:
    case 3:
      return offset === 0 ? '' : readText(base, 4 * offset + 4, base.getUint32(4 * offset, true));
    case 1:
      return offset === 0 ? undefined : part(base, 4 * offset + 4, 4 * offset + 4 + base.getUint32(4 * offset, true));
    case 2: {
      const count = offset === 0 ? 0 : base.getUint16(4 * offset, true);
      const items = 4 * offset + 2 + 2 * count + (count % 2 === 0 ? 2 : 0);
      return readTable(base, count, (i) => [base.getUint16(4 * offset + 2 + 2 * i, true), base.getUint32(items + 4 * i, true)]);
    }
    case 5: {
      const at = units + 2 * offset;
      const count = base.getUint16(at, true);
      return readTable(base, count, (i) => [
        base.getUint16(at + 2 + 2 * i, true),
        0x60000000 | base.getUint16(at + 2 + 2 * count + 2 * i, true),
      ]);
    }
    case 6:
      return readText16(base, units + 2 * offset);
    default:
      return undefined;
  }
}

function readTable(base: DataView, count: number, row: (i: number) => readonly [number, number]): ReadonlyMap<string, Resource> {
  const table = new Map<string, Resource>();
  for (let i = 0; i < count; i++) {
    const [key, value] = row(i);
    table.set(cstring(base, key), readResource(base, value >>> 0));
  }
  return table;
}

function readText(base: DataView, at: number, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += String.fromCharCode(base.getUint16(at + 2 * i, true));
  return text;
}

function readText16(base: DataView, at: number): string {
  const first = base.getUint16(at, true);
  if (first < 0xdc00 || first > 0xdfff) {
    let length = 0;
    while (base.getUint16(at + 2 * length, true) !== 0) length++;
    return readText(base, at, length);
  }
  if (first < 0xdfef) return readText(base, at + 2, first & 0x3ff);
  if (first < 0xdfff) return readText(base, at + 4, ((first - 0xdfef) << 16) | base.getUint16(at + 2, true));
  return readText(base, at + 6, (base.getUint16(at + 2, true) << 16) | base.getUint16(at + 4, true));
}

/** A map from code points to 32-bit words. */
export interface Trie {
  get(codePoint: number): number;
}

/** A frozen UTrie2 of 32-bit values. */
export function readTrie(view: Part): Trie {
  if (view.getUint32(0, true) !== 0x54726932 || (view.getUint16(4, true) & 15) !== 1) throw new AssertionError('not a trie of 32-bit values');
  const indexLength = view.getUint16(6, true);
  const dataLength = view.getUint16(8, true) << 2;
  const highStart = view.getUint16(14, true) << 11;
  const index = (i: number): number => view.getUint16(16 + 2 * i, true);
  const data = (i: number): number => view.getUint32(16 + 2 * indexLength + 4 * i, true);
  const block = (i: number, codePoint: number): number => data((index(i) << 2) + (codePoint & 31));
  return {
    get: (codePoint) => {
      if (codePoint >= 0xd800 && codePoint <= 0xdbff) return block(0x800 - 0x6c0 + (codePoint >> 5), codePoint);
      if (codePoint <= 0xffff) return block(codePoint >> 5, codePoint);
      if (codePoint >= highStart) return data(dataLength - 4);
      return block(index(0x840 - 32 + (codePoint >> 11)) + ((codePoint >> 5) & 0x3f), codePoint);
    },
  };
}

/** All strings of a UCharsTrie that begins at unit `start`, with their values. */
export function readStringTrie(view: Part, start: number): (readonly [string, number])[] {
  const found: (readonly [string, number])[] = [];
  new StringTrieWalk(view, found).node(start, '');
  return found;
}

class StringTrieWalk {
  readonly #view: Part;
  readonly #found: (readonly [string, number])[];

  constructor(view: Part, found: (readonly [string, number])[]) {
    this.#view = view;
    this.#found = found;
  }

  #unit(at: number): number {
    return this.#view.getUint16(2 * at, true);
  }

  node(start: number, prefix: string): void {
    let at = start;
    let text = prefix;
    let lead = this.#unit(at++);
    for (;;) {
      if (lead >= 0x8000) {
        this.#emit(text, this.#value(at, lead & 0x7fff)[0]);
        return;
      }
      if (lead >= 0x40) {
        const [value, next] = this.#nodeValue(at, lead);
        this.#emit(text, value);
        at = next;
        lead &= 0x3f;
      }
      if (lead < 0x30) {
        const length = lead === 0 ? this.#unit(at++) : lead;
        this.#branch(at, length + 1, text);
        return;
      }
      for (let rest = lead - 0x2f; rest > 0; rest--) text += String.fromCharCode(this.#unit(at++));
      lead = this.#unit(at++);
    }
  }

  #emit(text: string, value: number): void {
    this.#found.push([text, value >>> 0]);
  }

  #branch(start: number, count: number, text: string): void {
    let at = start;
    let length = count;
    while (length > 5) {
      const [target, next] = this.#jump(at + 1);
      this.#branch(target, length >> 1, text);
      at = next;
      length -= length >> 1;
    }
    for (; length > 1; length--) {
      const key = text + String.fromCharCode(this.#unit(at));
      const lead = this.#unit(at + 1);
      const [value, next] = this.#value(at + 2, lead & 0x7fff);
      at = next;
      if (lead >= 0x8000) this.#emit(key, value);
      else this.node(at + value, key);
    }
    this.node(at + 1, text + String.fromCharCode(this.#unit(at)));
  }

  #jump(at: number): readonly [number, number] {
    const delta = this.#unit(at);
    if (delta < 0xfc00) return [at + 1 + delta, at + 1];
    if (delta === 0xffff) return [at + 3 + ((this.#unit(at + 1) << 16) | this.#unit(at + 2)), at + 3];
    return [at + 2 + (((delta - 0xfc00) << 16) | this.#unit(at + 1)), at + 2];
  }

  #value(at: number, lead: number): readonly [number, number] {
    if (lead < 0x4000) return [lead, at];
    if (lead < 0x7fff) return [((lead - 0x4000) << 16) | this.#unit(at), at + 1];
    return [(this.#unit(at) << 16) | this.#unit(at + 1), at + 2];
  }

  #nodeValue(at: number, lead: number): readonly [number, number] {
    if (lead < 0x4040) return [(lead >> 6) - 1, at];
    if (lead < 0x7fc0) return [(((lead & 0x7fc0) - 0x4040) << 10) | this.#unit(at), at + 1];
    return [(this.#unit(at) << 16) | this.#unit(at + 1), at + 2];
  }
}
