// From text to collation elements, by the Unicode Collation Algorithm (UTS #10, "Produce Collation Element Arrays") over the words that ICU
// compiled of the locale's table and the root's. A word (CE32) whose low byte is below C0 is an element in short; of others the low four bits are a
// tag, and what it means stands beside its rule below. An element is a primary weight of 32 bits and a lower half: secondary, case bits, tertiary.

import { must } from '../base/assert.ts';
import { lateModule } from '../base/late-module.ts';
import type * as packed from './data.ts';
import { hangulLetters, markRank } from './normal-form.ts';
import { unpackTable } from './unpack.ts';
import type { Context, ContextNode, ElementTable } from './unpack.ts';

const fallback = 0xc0;
const unassigned = 0xffffffff;
const commonWeights = 0x05000500;
const singlesEnd = 0x180;

const data = lateModule<typeof packed>(import.meta.url, './data.js');

let root: ElementTable | undefined;

/** The table of the root collation. */
export function loadRoot(): ElementTable {
  root ??= unpackTable(data().rootTable, unassigned);
  return root;
}

/** Unpacks a tailoring of it. */
export function loadTailoring(text: string): ElementTable {
  return unpackTable(text, fallback);
}

const isSpecial = (word: number): boolean => (word & 0xff) >= 0xc0;

/** A growing list of elements; `upper` has the primaries. */
export class ElementList {
  upper: Uint32Array = new Uint32Array(64);
  lower: Uint32Array = new Uint32Array(64);
  length = 0;

  add(upper: number, lower: number): void {
    if (this.length === this.upper.length) this.#grow();
    this.upper[this.length] = upper;
    this.lower[this.length] = lower;
    this.length += 1;
  }

  #grow(): void {
    const upper = new Uint32Array(2 * this.length);
    const lower = new Uint32Array(2 * this.length);
    upper.set(this.upper);
    lower.set(this.lower);
    this.upper = upper;
    this.lower = lower;
  }
}

/** What a rule is asked about: a word of a table, for the character before `at`. */
interface Question {
  readonly table: ElementTable;
  readonly word: number;
  readonly codePoint: number;
}

type Rule = (reader: ElementReader, question: Question) => void;

/** Reads the elements of texts by one table over the root's. */
export class ElementReader {
  readonly #table: ElementTable;
  readonly #root: ElementTable;
  readonly #numeric: boolean;
  /** Words of the usual letters, as far as they are plain elements. */
  readonly #singles: Uint32Array;
  #points: number[] = [];
  #at = 0;
  #list = new ElementList();

  constructor(tailoring: ElementTable | undefined, numeric: boolean) {
    this.#root = loadRoot();
    this.#table = tailoring ?? this.#root;
    this.#numeric = numeric;
    this.#singles = Uint32Array.from({ length: singlesEnd }, (_, codePoint) => {
      const own = this.#table.wordOf(codePoint);
      const word = own === fallback ? this.#root.wordOf(codePoint) : own;
      return isSpecial(word) ? fallback : word;
    });
  }

  /** Puts the elements of these code points into the list. The array may be changed. */
  read(points: number[], list: ElementList): void {
    this.#points = points;
    this.#list = list;
    for (this.#at = 0; this.#at < points.length; ) {
      const codePoint = points[this.#at++] as number;
      const single = codePoint < singlesEnd ? (this.#singles[codePoint] as number) : fallback;
      if (single !== fallback) list.add(single & 0xffff0000, ((single & 0xff00) << 16) | ((single & 0xff) << 8));
      else this.#one(codePoint);
    }
  }

  #one(codePoint: number): void {
    this.apply({ table: this.#table, word: this.#table.wordOf(codePoint), codePoint });
  }

  /** Adds what a word stands for. */
  apply(question: Question): void {
    const { word } = question;
    if (!isSpecial(word)) this.#list.add(word & 0xffff0000, ((word & 0xff00) << 16) | ((word & 0xff) << 8));
    else must(rules[word & 15], 'a tag that tables have')(this, question);
  }

  add(upper: number, lower: number): void {
    this.#list.add(upper, lower);
  }

  rootWord(codePoint: number): Question {
    return { table: this.#root, word: this.#root.wordOf(codePoint), codePoint };
  }

  get numeric(): boolean {
    return this.#numeric;
  }

  /** Letters of Hangul are the tailoring's if it has them. */
  jamoOf(table: ElementTable): ElementTable {
    return table.jamo.length > 0 ? table : this.#root;
  }

  /** The word for the longest string that stands before the character. */
  prefixed(context: Context): number {
    let node: ContextNode | undefined = context.root;
    let word = context.otherwise;
    for (let i = this.#at - 2; i >= 0; i--) {
      node = node.next.get(this.#points[i] as number);
      if (node === undefined) break;
      if (node.word >= 0) word = node.word;
    }
    return word;
  }

  /** The word for the longest string that follows, which is passed; then marks further on that belong to it, which are taken out. */
  contracted(context: Context): number {
    let word = context.otherwise;
    let node = context.root;
    let matched: ContextNode = node;
    for (let i = this.#at; i < this.#points.length; ) {
      const next: ContextNode | undefined = node.next.get(this.#points[i] as number);
      if (next === undefined) break;
      node = next;
      i += 1;
      if (node.word < 0) continue;
      word = node.word;
      matched = node;
      this.#at = i;
    }
    return this.#contractMarks(matched, word);
  }

  #contractMarks(from: ContextNode, contracted: number): number {
    let word = contracted;
    let node = from;
    let blocked = 0;
    for (let i = this.#at; i < this.#points.length; ) {
      const point = this.#points[i] as number;
      const rank = markRank(point);
      if (rank === 0) break;
      const next = rank > blocked ? node.next.get(point) : undefined;
      if (next === undefined || next.word < 0) {
        blocked = Math.max(blocked, rank);
        i += 1;
        continue;
      }
      this.#points.splice(i, 1);
      node = next;
      word = node.word;
    }
    return word;
  }

  /** Reads the digits from this one on as one number. */
  number(first: number): void {
    const digits = [first];
    for (; this.#at < this.#points.length; this.#at++) {
      const digit = this.#digitAt(this.#points[this.#at] as number);
      if (digit < 0) break;
      digits.push(digit);
    }
    const { options } = this.#root;
    const lead = (options & 0xff000000) >>> 0;
    for (let from = 0; from < digits.length; ) {
      while (from < digits.length - 1 && digits[from] === 0) from += 1;
      const part = digits.slice(from, from + 254);
      for (const primary of numberPrimaries(part, lead)) this.#list.add(primary, commonWeights);
      from += part.length;
    }
  }

  #digitAt(codePoint: number): number {
    const own = this.#table.wordOf(codePoint);
    const word = own === fallback ? this.#root.wordOf(codePoint) : own;
    return isSpecial(word) && (word & 15) === digitTag ? (word >>> 8) & 15 : -1;
  }
}

const digitTag = 10;

const addElement = (reader: ElementReader, table: ElementTable, index: number): void => {
  reader.add(table.elements[2 * index] as number, table.elements[2 * index + 1] as number);
};

const indexOf = (word: number): number => word >>> 13;
const lengthOf = (word: number): number => (word >>> 8) & 31;
const again = (reader: ElementReader, question: Question, word: number): void => {
  reader.apply({ ...question, word });
};

const rules: readonly (Rule | undefined)[] = [
  // 0: what the root says.
  (reader, { codePoint }) => {
    reader.apply(reader.rootWord(codePoint));
  },
  // 1: a primary of three bytes.
  (reader, { word }) => {
    reader.add(word & 0xffffff00, commonWeights);
  },
  // 2: secondary and tertiary in full, no primary.
  (reader, { word }) => {
    reader.add(0, word & 0xffffff00);
  },
  undefined,
  // 4: a letter and its accent.
  (reader, { word }) => {
    reader.add(word & 0xff000000, 0x05000000 | ((word & 0xff0000) >>> 8));
    reader.add(0, ((word & 0xff00) << 16) | 0x0500);
  },
  // 5: several words.
  (reader, question) => {
    const at = indexOf(question.word);
    for (let i = 0; i < lengthOf(question.word); i++) again(reader, question, question.table.words[at + i] as number);
  },
  // 6: several elements.
  (reader, { table, word }) => {
    for (let i = 0; i < lengthOf(word); i++) addElement(reader, table, indexOf(word) + i);
  },
  undefined,
  // 8: it depends on what stands before.
  (reader, question) => {
    again(reader, question, reader.prefixed(question.table.contexts[indexOf(question.word)] as Context));
  },
  // 9: it depends on what follows.
  (reader, question) => {
    again(reader, question, reader.contracted(question.table.contexts[indexOf(question.word)] as Context));
  },
  // 10: a digit.
  (reader, question) => {
    if (reader.numeric) reader.number((question.word >>> 8) & 15);
    else again(reader, question, question.table.words[indexOf(question.word)] as number);
  },
  undefined,
  // 12: a syllable of Hangul.
  (reader, { table, codePoint }) => {
    const letters = reader.jamoOf(table);
    const [leading, vowel, trailing] = hangulLetters(codePoint);
    reader.apply({ table: letters, word: letters.jamo[leading] as number, codePoint: 0x1100 + leading });
    reader.apply({ table: letters, word: letters.jamo[19 + vowel] as number, codePoint: 0x1161 + vowel });
    if (trailing >= 0) reader.apply({ table: letters, word: letters.jamo[40 + trailing] as number, codePoint: 0x11a8 + trailing });
  },
  undefined,
  // 14: one of a range of primaries in steps.
  (reader, { table, word, codePoint }) => {
    const at = 2 * indexOf(word);
    reader.add(primaryInRange(codePoint, table.elements[at] as number, table.elements[at + 1] as number), commonWeights);
  },
  // 15: unassigned, ordered by code point.
  (reader, { codePoint }) => {
    reader.add(unassignedPrimary(codePoint), commonWeights);
  },
];

/** `steps`: first code point of the range (24 bits), whether the lead byte is compressible (1), primaries from one to the next (7). */
function primaryInRange(codePoint: number, base: number, steps: number): number {
  let offset = (codePoint - (steps >>> 8)) * (steps & 0x7f) + ((base >>> 8) & 0xff) - 2;
  const third = (offset % 254) + 2;
  offset = Math.floor(offset / 254);
  const [first, size] = (steps & 0x80) === 0 ? [2, 254] : [4, 251];
  offset += ((base >>> 16) & 0xff) - first;
  const second = (offset % size) + first;
  offset = Math.floor(offset / size);
  return ((((base >>> 24) + offset) << 24) | (second << 16) | (third << 8)) >>> 0;
}

function unassignedPrimary(codePoint: number): number {
  let rest = codePoint + 1;
  const fourth = 2 + (rest % 18) * 14;
  rest = Math.floor(rest / 18);
  const third = 2 + (rest % 254);
  rest = Math.floor(rest / 254);
  return ((0xfe << 24) | ((4 + (rest % 251)) << 16) | (third << 8) | fourth) >>> 0;
}

/** The primaries of a number of at most 254 digits without zeros in front: small ones in two to four bytes, others by pairs of digits. */
function numberPrimaries(digits: readonly number[], lead: number): number[] {
  if (digits.length <= 7) {
    let value = digits.reduce((sum, digit) => 10 * sum + digit, 0);
    if (value < 74) return [(lead | ((2 + value) << 16)) >>> 0];
    value -= 74;
    if (value < 40 * 254) return [(lead | ((76 + Math.floor(value / 254)) << 16) | ((2 + (value % 254)) << 8)) >>> 0];
    value -= 40 * 254;
    if (value < 16 * 254 * 254) {
      const second = 116 + Math.floor(value / (254 * 254));
      return [(lead | (second << 16) | ((2 + (Math.floor(value / 254) % 254)) << 8) | (2 + (value % 254))) >>> 0];
    }
  }
  return pairPrimaries(digits, lead);
}

function pairPrimaries(digits: readonly number[], lead: number): number[] {
  let { length } = digits;
  let primary = lead | ((128 + ((length + 1) >> 1)) << 16);
  while (digits[length - 1] === 0 && digits[length - 2] === 0) length -= 2;
  let at = length % 2 === 1 ? 1 : 2;
  let pair = 11 + 2 * (at === 1 ? (digits[0] as number) : 10 * (digits[0] as number) + (digits[1] as number));
  let shift = 8;
  const primaries: number[] = [];
  for (; at < length; at += 2) {
    if (shift === 0) {
      primaries.push((primary | pair) >>> 0);
      primary = lead;
      shift = 16;
    } else {
      primary |= pair << shift;
      shift -= 8;
    }
    pair = 11 + 2 * (10 * (digits[at] as number) + (digits[at + 1] as number));
  }
  primaries.push((primary | ((pair - 1) << shift)) >>> 0);
  return primaries;
}
