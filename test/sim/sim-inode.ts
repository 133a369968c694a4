// The content of one simulated file: what reads see (`live`), what a power failure leaves for sure (`durable`), and the changes between
// them that no sync has covered. A change keeps whole sectors as they were right after it, because that is what a device is given.

import { PagedBytes } from '../../src/env/index.ts';
import type { SimRandom } from './sim-random.ts';

/** What a device writes as one piece. */
const sectorBytes = 512;
const pageBytes = 4096;

/** A change that a crash may lose, keep or tear. */
export type Change =
  | { readonly kind: 'write'; readonly start: number; readonly data: Uint8Array; readonly end: number }
  | { readonly kind: 'size'; readonly size: number };

/** How a crash treats unsynced writes: the patterns that real disks are known for, and noise. */
type Fate = 'lost' | 'kept' | 'prefix' | 'writes' | 'sectors';

const fates: readonly Fate[] = ['lost', 'kept', 'prefix', 'writes', 'writes', 'sectors', 'sectors'];

/** One file without a name. */
export class SimInode {
  readonly live: PagedBytes;
  #durable: PagedBytes;
  #changes: Change[] = [];
  /** Changes that were covered by a sync, or dropped by a failed one, before the first in the list. */
  #before = 0;

  constructor(content: PagedBytes = new PagedBytes(pageBytes)) {
    this.live = content;
    this.#durable = content.clone();
  }

  /** How many changes there were up to now: what a sync that starts now will cover. */
  get mark(): number {
    return this.#before + this.#changes.length;
  }

  /** Whether a power failure could lose something. */
  get hasUnsynced(): boolean {
    return this.#changes.length > 0;
  }

  write(source: Uint8Array, offset: number): void {
    if (source.length === 0) return;
    this.live.write(source, offset);
    const start = offset - (offset % sectorBytes);
    const stop = Math.min(this.live.size, Math.ceil((offset + source.length) / sectorBytes) * sectorBytes);
    const data = new Uint8Array(stop - start);
    this.live.read(data, start);
    this.#changes.push({ kind: 'write', start, data, end: offset + source.length });
  }

  truncate(size: number): void {
    this.live.truncate(size);
    this.#changes.push({ kind: 'size', size });
  }

  /** A sync that began at `mark` has succeeded. */
  sync(mark: number): void {
    const count = Math.max(0, mark - this.#before);
    for (const change of this.#changes.splice(0, count)) applyWhole(this.#durable, change);
    this.#before += count;
  }

  /**
   * A sync that began at `mark` has failed: some of what it covered reached the device, the rest never will unless it is written again,
   * for the cache takes it for clean. Reads go on showing it.
   */
  failSync(mark: number, random: SimRandom): void {
    const count = Math.max(0, mark - this.#before);
    applySome(this.#durable, this.#changes.splice(0, count), random);
    this.#before += count;
  }

  /** What this file is after a power failure now; `inFlight` are changes that had begun. Changes nothing here. */
  afterPowerLoss(inFlight: readonly { source: Uint8Array; offset: number }[], random: SimRandom): SimInode {
    const changes = [...this.#changes];
    const content = this.#durable.clone();
    if (inFlight.length > 0) {
      const started = this.copy();
      for (const { source, offset } of inFlight) started.write(source, offset);
      changes.push(...started.#changes.slice(this.#changes.length));
    }
    applySome(content, changes, random);
    return new SimInode(content);
  }

  /** An equal file with the same history; both go their own ways from here. */
  copy(): SimInode {
    const twin = new SimInode(this.live.clone());
    twin.#durable = this.#durable.clone();
    twin.#changes = [...this.#changes];
    twin.#before = this.#before;
    return twin;
  }

  /** Damages a byte where it lies: in what reads see and on the device. */
  corrupt(offset: number, mask: number): void {
    for (const image of [this.live, this.#durable]) {
      const byte = new Uint8Array(1);
      if (image.read(byte, offset) === 0) continue;
      byte[0] = (byte[0] as number) ^ mask;
      image.write(byte, offset);
    }
  }
}

function applyWhole(content: PagedBytes, change: Change): void {
  if (change.kind === 'size') {
    content.truncate(change.size);
    return;
  }
  const size = Math.max(content.size, change.end);
  content.write(change.data, change.start);
  content.truncate(size);
}

/** Applies what a power failure lets through. A lost cut of the file takes everything behind it along: sizes are journaled in order. */
function applySome(content: PagedBytes, changes: readonly Change[], random: SimRandom): void {
  const fate = random.pick(fates);
  const keep = random.pick([0.1, 0.5, 0.9]);
  let from = 0;
  for (;;) {
    const cut = changes.findIndex((change, index) => index >= from && change.kind === 'size');
    const stretch = changes.slice(from, cut < 0 ? undefined : cut) as Extract<Change, { kind: 'write' }>[];
    applyStretch(content, stretch, fate, { random, keep });
    if (cut < 0) return;
    if (fate === 'lost' || (fate !== 'kept' && !random.chance(keep))) return;
    applyWhole(content, changes[cut] as Change);
    from = cut + 1;
  }
}

type Write = Extract<Change, { kind: 'write' }>;

interface Odds {
  readonly random: SimRandom;
  readonly keep: number;
}

function applyStretch(content: PagedBytes, writes: readonly Write[], fate: Fate, odds: Odds): void {
  const { random } = odds;
  const before = content.size;
  const sizes = [before, ...writes.map((write) => write.end)].map((_, index, all) => Math.max(...all.slice(0, index + 1)));
  if (fate === 'sectors') applySectors(content, writes, odds);
  else {
    const whole = fate === 'kept' ? writes.length : fate === 'lost' ? 0 : fate === 'prefix' ? random.below(writes.length + 1) : -1;
    for (const [index, write] of writes.entries()) {
      if (whole < 0 ? random.chance(odds.keep) : index < whole) content.write(write.data, write.start);
      else if (index === whole || (whole < 0 && random.chance(0.2))) tear(content, write, random);
    }
  }
  const size = fate === 'kept' ? (sizes.at(-1) as number) : fate === 'lost' ? before : random.pick([...sizes, Math.max(before, content.size)]);
  content.truncate(Math.min(Math.max(size, before), sizes.at(-1) as number));
}

/** Part of one write: its first sectors, its last ones, or any. */
function tear(content: PagedBytes, write: Write, random: SimRandom): void {
  const sectors = Math.ceil(write.data.length / sectorBytes);
  const cut = random.below(sectors + 1);
  const shape = random.pick(['head', 'tail', 'any']);
  for (let sector = 0; sector < sectors; sector++) {
    const kept = shape === 'any' ? random.chance(0.5) : shape === 'head' ? sector < cut : sector >= cut;
    if (kept) writeSector(content, write, sector);
  }
}

function writeSector(content: PagedBytes, write: Write, sector: number): void {
  const at = sector * sectorBytes;
  content.write(write.data, write.start + at, at, Math.min(write.data.length, at + sectorBytes));
}

/** For each sector, independently, one of the contents it had since it was last durable. */
function applySectors(content: PagedBytes, writes: readonly Write[], { random, keep }: Odds): void {
  const versions = new Map<number, [Write, number][]>();
  for (const write of writes) {
    for (let sector = 0; sector * sectorBytes < write.data.length; sector++) {
      const place = write.start + sector * sectorBytes;
      const list = versions.get(place);
      if (list === undefined) versions.set(place, [[write, sector]]);
      else list.push([write, sector]);
    }
  }
  for (const list of versions.values()) if (random.chance(keep)) writeSector(content, ...random.pick(list));
}
