// Writes the CSV of the bulk-load experiment: `node dist/scripts/seed-csv.js FILE`. 955,527 rows, about 35 MB, in random order of ids, such
// that rank1 < 20 and rank2 < 30 holds for exactly 49 rows and rank1 < 200 and rank2 < 300 for exactly 5,759. The same file every time.

import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const rows = 955_527;
const inner = { rank1: 20, rank2: 30, rows: 49 };
const outer = { rank1: 200, rank2: 300, rows: 5759 };
const rankMax = 100_000;

/** mulberry32: small, and the same on every machine. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
}

const random = generator(955_527);
const below = (limit: number): number => random() % limit;

/** Ids from 1 on in random order. */
function shuffled(): Uint32Array {
  const ids = Uint32Array.from({ length: rows }, (_, i) => i + 1);
  for (let i = rows - 1; i > 0; i--) {
    const j = below(i + 1);
    const id = ids[i] ?? 0;
    ids[i] = ids[j] ?? 0;
    ids[j] = id;
  }
  return ids;
}

/** The ranks of a row: the first rows lie in the inner box, the next in the outer one, the rest in neither. */
function ranks(row: number): [number, number] {
  if (row < inner.rows) return [below(inner.rank1), below(inner.rank2)];
  for (;;) {
    const pair: [number, number] = row < outer.rows ? [below(outer.rank1), below(outer.rank2)] : [below(rankMax), below(rankMax)];
    const box = row < outer.rows ? inner : outer;
    if (pair[0] >= box.rank1 || pair[1] >= box.rank2) return pair;
  }
}

const [, , path] = process.argv;
if (path === undefined) {
  console.error('usage: seed-csv FILE');
  process.exit(2);
}
const file = createWriteStream(path);
file.write('id,rank1,rank2,log_time\n');
const ids = shuffled();
// The boxes' rows are spread over the file by dealing the kinds of rows out in random order too.
const kinds = shuffled();
const begin = Date.UTC(2013, 0, 1);
let lines = '';
for (let i = 0; i < rows; i++) {
  const [rank1, rank2] = ranks((kinds[i] ?? 1) - 1);
  const time = new Date(begin + below(365 * 86_400) * 1000).toISOString();
  lines += `${ids[i] ?? 0},${rank1},${rank2},${time.slice(0, 10)} ${time.slice(11, 19)}\n`;
  if (lines.length > 1_000_000) {
    if (!file.write(lines)) await new Promise<void>((resolve) => file.once('drain', resolve));
    lines = '';
  }
}
file.end(lines);
await finished(file);
