// Sort keys: bytes whose unsigned order is the order of texts under a collation. Primaries, then each further level behind a 01: accents (backwards
// where asked), case, variants, what was shifted; last, for strength 5, the text itself. A port of the layout that ICU writes (UTS #10, "Form Sort Key",
// with the compressions of ICU's user guide), so that keys shown to clients are MongoDB's.

import type { ElementList } from './elements.ts';
import { LevelBytes } from './level.ts';
import type { CommonRange } from './level.ts';
import type { CollationSettings } from './settings.ts';
import type { ElementTable } from './unpack.ts';

const separator = 1;
const mergeSeparator = 2;
const commonWeight = 0x0500;
const secondaryRuns: CommonRange = { low: 0x05, middle: 0x25, high: 0x45 };
const tertiaryRuns: CommonRange = { low: 0x05, middle: 0x65, high: 0xc5 };
const lowerFirstRuns: CommonRange = { low: 0x05, middle: 0x25, high: 0x45 };
const upperFirstRuns: CommonRange = { low: 0x85, middle: 0xa5, high: 0xc5 };
const quaternaryRuns: CommonRange = { low: 0x1c, middle: 0x8c, high: 0xfc };

/** Lead bytes in the order of a locale. */
interface Reordering {
  readonly leadBytes: Uint8Array;
  /** From here on primaries stay. */
  readonly end: number;
  readonly ranges: Uint32Array;
}

/** Writes the keys of one collation. */
export class SortKeyWriter {
  readonly #settings: CollationSettings;
  readonly #compressible: Uint8Array;
  readonly #reordering: Reordering | undefined;
  /** Primaries below it are variable; 0 where none is shifted. */
  readonly #variableEnd: number;
  readonly #key = new LevelBytes();
  readonly #secondaries: SecondaryLevel;
  readonly #cases: CaseLevel;
  readonly #tertiaries: TertiaryLevel;
  readonly #quaternaries: QuaternaryLevel;

  constructor(settings: CollationSettings, root: ElementTable, tailoring: ElementTable | undefined) {
    this.#settings = settings;
    this.#compressible = root.compressible;
    this.#reordering = reorderingOf(tailoring);
    const top = root.variableTops[settings.maxVariable === 'space' ? 0 : 1] ?? 0;
    this.#variableEnd = settings.alternate === 'shifted' ? top + 1 : 0;
    this.#secondaries = new SecondaryLevel(settings.backwards);
    this.#cases = new CaseLevel(settings);
    this.#tertiaries = new TertiaryLevel(settings);
    this.#quaternaries = new QuaternaryLevel(settings.alternate === 'shifted');
  }

  /** The key of these elements; `identical`: what stands for the text itself, at strength 5. */
  write(list: ElementList, identical: Uint8Array | undefined): Uint8Array {
    const { strength, caseLevel } = this.#settings;
    const key = this.#key;
    key.length = 0;
    if (strength >= 2) this.#secondaries.begin();
    if (caseLevel) this.#cases.begin();
    if (strength >= 3) this.#tertiaries.begin();
    if (strength >= 4) this.#quaternaries.begin();
    this.#writeElements(list);
    if (strength >= 2) this.#secondaries.finish(key);
    if (caseLevel) this.#cases.finish(key);
    if (strength >= 3) this.#tertiaries.finish(key);
    if (strength >= 4) this.#quaternaries.finish(key);
    if (identical !== undefined) {
      key.byte(separator);
      key.range(identical, identical.length);
    }
    return key.bytes.slice(0, key.length);
  }

  #writeElements(list: ElementList): void {
    const { strength, caseLevel } = this.#settings;
    const { upper, lower, length } = list;
    const variableEnd = this.#variableEnd;
    let last = 0;
    for (let i = 0; i < length; i++) {
      let primary = upper[i] as number;
      if (primary < variableEnd && primary > 0x02000000) {
        i = this.#shift(list, i);
        if (i >= length) return;
        primary = upper[i] as number;
      }
      if (primary !== 0) last = this.#writePrimary(primary, last);
      const rest = lower[i] as number;
      if (rest === 0) continue;
      if (strength >= 2) this.#secondaries.add(rest >>> 16, primary);
      if (caseLevel) this.#cases.add(primary, rest);
      if (strength >= 3) this.#tertiaries.add(rest);
      if (strength >= 4) this.#quaternaries.add(rest & 0xffff);
    }
  }

  /** Moves the variable elements from `start` on to the fourth level, and drops the marks behind them; the place of the next other element. */
  #shift(list: ElementList, start: number): number {
    let i = start;
    if (this.#settings.strength >= 4) this.#quaternaries.beginShift();
    for (;;) {
      const primary = list.upper[i] as number;
      if (primary >= this.#variableEnd || primary <= 0x02000000) return i;
      if (this.#settings.strength >= 4) this.#quaternaries.shifted(this.#reordered(primary));
      do i += 1;
      while (i < list.length && list.upper[i] === 0);
      if (i >= list.length) return i;
    }
  }

  /** Writes a primary, its lead byte once for several in a row; gives what the next one is compressed against. */
  #writePrimary(unordered: number, last: number): number {
    const key = this.#key;
    const isCompressible = this.#compressible[unordered >>> 24] === 1;
    const primary = this.#reordered(unordered);
    const lead = primary >>> 24;
    let compressed = last;
    if (!isCompressible || lead !== last >>> 24) {
      if (last !== 0) {
        if (primary >= last) key.byte(0xff);
        else if (lead > mergeSeparator) key.byte(3);
      }
      key.byte(lead);
      compressed = isCompressible ? primary : 0;
    }
    if ((primary & 0xff0000) !== 0) key.byte((primary >>> 16) & 0xff);
    if ((primary & 0xffff) !== 0) key.byte((primary >>> 8) & 0xff);
    if ((primary & 0xff) !== 0) key.byte(primary & 0xff);
    return compressed;
  }

  #reordered(primary: number): number {
    const reordering = this.#reordering;
    if (reordering === undefined) return primary;
    const lead = reordering.leadBytes[primary >>> 24] as number;
    if (lead !== 0 || primary <= 0x01000000) return ((lead << 24) | (primary & 0xffffff)) >>> 0;
    if (primary >= reordering.end) return primary;
    const place = (primary | 0xffff) >>> 0;
    const range = reordering.ranges.find((limit) => place < limit) ?? 0;
    return (primary + (range << 24)) >>> 0;
  }
}

function reorderingOf(table: ElementTable | undefined): Reordering | undefined {
  if (table === undefined || table.leadBytes.length === 0) return undefined;
  const ranges = table.leadRanges;
  const first = ranges.findIndex((range) => (range & 0xff0000) !== 0);
  if (first < 0) return { leadBytes: table.leadBytes, end: 0, ranges: new Uint32Array(0) };
  return { leadBytes: table.leadBytes, end: ((ranges[ranges.length - 1] as number) & 0xffff0000) >>> 0, ranges: ranges.subarray(first) };
}

class SecondaryLevel {
  readonly #backwards: boolean;
  readonly #level = new LevelBytes();
  #common = 0;
  #last = 0;
  #segment = 0;

  constructor(backwards: boolean) {
    this.#backwards = backwards;
  }

  begin(): void {
    this.#level.length = 0;
    this.#common = 0;
    this.#last = 0;
    this.#segment = 0;
  }

  add(weight: number, primary: number): void {
    if (weight === 0) return;
    if (weight === commonWeight && !(this.#backwards && primary === 0x02000000)) this.#common += 1;
    else if (this.#backwards) this.#addReversed(weight, primary);
    else {
      this.#level.run(this.#common, secondaryRuns, weight > commonWeight);
      this.#common = 0;
      this.#level.weight16(weight);
    }
  }

  #addReversed(weight: number, primary: number): void {
    this.#level.reversedRun(this.#common, secondaryRuns, this.#last >= commonWeight);
    this.#common = 0;
    if (primary > 0 && primary <= 0x02000000) {
      this.#level.reverse(this.#segment);
      this.#level.byte(primary === 0x02000000 ? mergeSeparator : separator);
      this.#last = 0;
      this.#segment = this.#level.length;
    } else {
      this.#level.reversedWeight16(weight);
      this.#last = weight;
    }
  }

  finish(key: LevelBytes): void {
    if (this.#backwards) {
      this.#level.reversedRun(this.#common, secondaryRuns, this.#last >= commonWeight);
      this.#level.reverse(this.#segment);
    } else this.#level.run(this.#common, secondaryRuns, false);
    key.byte(separator);
    key.range(this.#level.bytes, this.#level.length);
  }
}

/** Case weights as half bytes. */
class CaseLevel {
  readonly #upperFirst: boolean;
  readonly #primaryOnly: boolean;
  readonly #level = new LevelBytes();
  #common = 0;

  constructor({ caseFirst, strength }: CollationSettings) {
    this.#upperFirst = caseFirst === 'upper';
    this.#primaryOnly = strength === 1;
  }

  begin(): void {
    this.#level.length = 0;
    this.#common = 0;
  }

  add(primary: number, lower: number): void {
    if (this.#primaryOnly ? primary === 0 : lower <= 0xffff) return;
    const weight = (lower >>> 14) & 3;
    if (weight === 0 && ((lower >>> 8) & 0xff) > separator) this.#common += 1;
    else if (this.#upperFirst) {
      this.#upperRun();
      this.#level.byte(3 - weight);
    } else {
      this.#lowerRun(true);
      this.#level.byte(13 + weight);
    }
  }

  #lowerRun(above: boolean): void {
    if (this.#common === 0) return;
    let rest = this.#common - 1;
    for (; rest >= 7; rest -= 7) this.#level.byte(7);
    this.#level.byte(above ? 13 - rest : 1 + rest);
    this.#common = 0;
  }

  #upperRun(): void {
    if (this.#common === 0) return;
    let rest = this.#common - 1;
    for (; rest >= 13; rest -= 13) this.#level.byte(3);
    this.#level.byte(3 + rest);
    this.#common = 0;
  }

  finish(key: LevelBytes): void {
    if (this.#upperFirst) this.#upperRun();
    else if (this.#level.length > 0) this.#lowerRun(false);
    key.byte(separator);
    const { bytes, length } = this.#level;
    for (let i = 0; i < length; i += 2) key.byte(((bytes[i] as number) << 4) | (i + 1 < length ? (bytes[i + 1] as number) : 0));
  }
}

/** Variants; with `caseFirst` and without a level of case their case bits too. */
class TertiaryLevel {
  readonly #caseFirst: CollationSettings['caseFirst'];
  readonly #mask: number;
  readonly #runs: CommonRange;
  readonly #level = new LevelBytes();
  #common = 0;

  constructor({ caseFirst, caseLevel }: CollationSettings) {
    this.#caseFirst = caseLevel ? 'off' : caseFirst;
    this.#mask = this.#caseFirst === 'off' ? 0x3f3f : 0xff3f;
    this.#runs = { off: tertiaryRuns, lower: lowerFirstRuns, upper: upperFirstRuns }[this.#caseFirst];
  }

  begin(): void {
    this.#level.length = 0;
    this.#common = 0;
  }

  add(lower: number): void {
    const weight = lower & this.#mask;
    if (weight === commonWeight) {
      this.#common += 1;
      return;
    }
    const moved = this.#caseFirst === 'upper' ? upperFirst(weight, lower) : weight > commonWeight ? weight + (this.#caseFirst === 'off' ? 0xc000 : 0x4000) : weight;
    const above = this.#caseFirst === 'upper' ? moved >= upperFirstRuns.low << 8 : weight > commonWeight;
    this.#level.run(this.#common, this.#runs, above);
    this.#common = 0;
    this.#level.weight16(moved);
  }

  finish(key: LevelBytes): void {
    this.#level.run(this.#common, this.#runs, false);
    key.byte(separator);
    key.range(this.#level.bytes, this.#level.length);
  }
}

/** Capital letters below small ones; elements without primary and secondary stay above both. */
function upperFirst(weight: number, lower: number): number {
  if (weight <= 0x0100) return weight;
  if (lower <= 0xffff) return weight + 0x4000;
  const turned = weight ^ 0xc000;
  return turned < upperFirstRuns.high << 8 ? turned - 0x4000 : turned;
}

class QuaternaryLevel {
  readonly #shifted: boolean;
  readonly #level = new LevelBytes();
  #common = 0;

  constructor(shifted: boolean) {
    this.#shifted = shifted;
  }

  begin(): void {
    this.#level.length = 0;
    this.#common = 0;
  }

  add(weight: number): void {
    if ((weight & 0xc0) === 0 && weight > 0x0100) {
      this.#common += 1;
      return;
    }
    this.#level.run(this.#common, quaternaryRuns, true);
    this.#common = 0;
    this.#level.byte(0xfc + ((weight >>> 6) & 3));
  }

  beginShift(): void {
    this.#level.run(this.#common, quaternaryRuns, false);
    this.#common = 0;
  }

  shifted(primary: number): void {
    if (primary >>> 24 >= quaternaryRuns.low - 1) this.#level.byte(quaternaryRuns.low - 1);
    this.#level.weight32(primary);
  }

  finish(key: LevelBytes): void {
    // Where nothing is shifted and all weights are common, lengths differ on the third level already.
    if (this.#shifted || this.#level.length > 0) this.#level.run(this.#common, quaternaryRuns, false);
    key.byte(separator);
    key.range(this.#level.bytes, this.#level.length);
  }
}
