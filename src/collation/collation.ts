// A collation: how texts are compared, as sort keys. Frozen data and code of our own, because keys stand in indexes: the host's Intl has no keys, and its
// order changes with its version. The data is ICU 57's, which MongoDB carries; tests hold it against Intl.

import { compareBytes } from '../base/bytes.ts';
import { encodeUtf8 } from '../base/text.ts';
import type { Document, TextOrder } from '../bson/index.ts';
import { ElementList, ElementReader, loadRoot } from './elements.ts';
import { decompose } from './normal-form.ts';
import type { CollationSettings } from './settings.ts';
import { SortKeyWriter } from './sort-key.ts';
import type { ElementTable } from './unpack.ts';

/** Text order of a locale under some settings. */
export class Collation implements TextOrder {
  /** As MongoDB shows it, all fields there: two collations are the same if these are. */
  readonly spec: Document;
  readonly settings: CollationSettings;
  readonly #reader: ElementReader;
  readonly #writer: SortKeyWriter;
  readonly #list = new ElementList();

  constructor(spec: Document, settings: CollationSettings, table: ElementTable) {
    this.spec = spec;
    this.settings = settings;
    this.#reader = new ElementReader(table, settings.numericOrdering);
    this.#writer = new SortKeyWriter(settings, loadRoot(), table);
  }

  /** Bytes whose unsigned order is that of the texts. Equal for texts that the collation does not tell apart. */
  keyOf(text: string): Uint8Array {
    let points = pointsOf(text);
    if (this.settings.normalization) points = decompose(points);
    const identical = this.settings.strength === 5 ? encodeUtf8(String.fromCodePoint(...decompose([...points]))) : undefined;
    this.#list.length = 0;
    this.#reader.read(points, this.#list);
    return this.#writer.write(this.#list, identical);
  }

  /** Negative, zero or positive as `a` comes before, with or after `b`. */
  compare(a: string, b: string): number {
    return a === b ? 0 : compareBytes(this.keyOf(a), this.keyOf(b));
  }
}

function pointsOf(text: string): number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const point = unit >= 0xd800 && unit < 0xdc00 ? (text.codePointAt(i) ?? unit) : unit;
    if (point > 0xffff) i += 1;
    points.push(point);
  }
  return points;
}
