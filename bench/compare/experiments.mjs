// The experiments: each takes an open store and a number of rows and gives a record of figures. Figures are processor time of the store in us, bytes
// sent to storage, milliseconds of waiting.

import { at, making, next, storeUs, writtenBytes } from './measured.mjs';
import { below, pairRow, rowsOf, shapes } from './rows.mjs';

const rowsACommit = 1000;
const keptACommit = 60;
/** What the first gets of a process cost is told apart: there its code is compiled. */
const firstGets = 500;
const buckets = 10;

/** Runs `work` and gives processor time a unit, in us. */
async function usOf(store, work) {
  const before = storeUs(store.pid);
  const units = await work();
  return (storeUs(store.pid) - before) / units;
}

const quietMs = 500;
const quietUs = 25_000;
const quietTimes = 4;
const settleTimesMax = 80;

/** Waits until the store does nothing by itself: what is read then costs what reading costs, and not what the load has left to do. */
async function settle(store) {
  for (let times = 0, quiet = 0; quiet < quietTimes && times < settleTimesMax; times++) {
    const before = storeUs(store.pid);
    await new Promise((resolve) => {
      setTimeout(resolve, quietMs);
    });
    quiet = storeUs(store.pid) - before < quietUs ? quiet + 1 : 0;
  }
}

/** Writes `rows` rows in commits; gives what each tenth of them cost. */
async function load(store, rows, makeCommit, afterCommit) {
  const marks = [];
  const waits = [];
  const begun = performance.now();
  for (let done = 0; done < rows; done += rowsACommit) {
    const bucket = Math.floor((done * buckets) / rows);
    marks[bucket] ??= { us: storeUs(store.pid), bytes: writtenBytes(store.pid) };
    const entries = making(() => makeCommit(done));
    const start = performance.now();
    await store.write(entries);
    waits.push(performance.now() - start);
    if (afterCommit !== undefined) await afterCommit(done);
  }
  marks.push({ us: storeUs(store.pid), bytes: writtenBytes(store.pid) });
  const seconds = (performance.now() - begun) / 1000;
  waits.sort((a, b) => a - b);
  const tenth = (what) => marks.slice(1).map((mark, i) => (mark[what] - marks[i][what]) / (rows / buckets));
  const [us, bytes] = [tenth('us'), tenth('bytes')];
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { us: mean(us), usFirst: us[0], usLast: us.at(-1), bytes: mean(bytes), bytesLast: bytes.at(-1), rate: rows / seconds, p999Ms: at(waits, 0.999), longestMs: waits.at(-1) };
}

/** Random puts into one index, then gets of keys that are there and a scan of everything: right behind the load, and when the store has come to rest. */
async function puts(store, rows) {
  const kept = [];
  const figures = await load(store, rows, () => {
    const pairs = Array.from({ length: rowsACommit }, pairRow);
    for (let i = 0; i < keptACommit; i++) kept.push(pairs[i][0]);
    return store.makePairs(pairs);
  });
  // Not the order of the load, which is that of the file in some stores.
  const keys = kept.map((key) => ({ key, place: next() })).sort((a, b) => a.place - b.place).map(({ key }) => key);
  const get = async (wanted) => {
    let found = 0;
    const us = await usOf(store, async () => {
      found = await store.get(wanted);
      return wanted.length;
    });
    if (found !== wanted.length) throw new Error(`Error: ${String(found)} of ${String(wanted.length)} found`);
    return us;
  };
  const read = async (wanted) => {
    let scanned = 0;
    const getUs = await get(wanted);
    const scanUs = await usOf(store, async () => (scanned = await store.scan()));
    if (scanned !== rows) throw new Error(`Error: ${String(scanned)} of ${String(rows)} scanned`);
    return { getUs, scanUs };
  };
  const firstUs = await get(keys.slice(0, firstGets));
  const half = (keys.length + firstGets) / 2;
  const behind = await read(keys.slice(firstGets, half));
  await settle(store);
  return { ...figures, ...behind, firstUs, settled: await read(keys.slice(half)) };
}

/** Rows of a shape with three indexes, then ranges of an index alone (1,000 entries) and with the rows fetched (100): right behind the load, and at rest. */
async function indexed(store, rows, shape) {
  const figures = await load(store, rows, (done) => store.makeEntries(rowsOf(shape, done, rowsACommit), shape));
  const ranges = async (count, limit, read) => {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const index = below(3);
      total += await read(index, shape.place(index), limit);
    }
    if (total < (count * limit) / 2) throw new Error(`Error: only ${String(total)} rows in ${String(count)} ranges`);
    return total;
  };
  const read = async () => ({ rangeUs: await usOf(store, () => ranges(300, 1000, store.indexRange)), fetchUs: await usOf(store, () => ranges(150, 100, store.fetchRange)) });
  const first = await read();
  const behind = await read();
  await settle(store);
  return { ...figures, ...behind, first, settled: await read() };
}

/** Inserts with ten range reads of 100 entries after each commit: reads of what was just written. */
async function mixed(store, rows) {
  const shape = shapes.randomColumns;
  let [readUs, read] = [0, 0];
  const figures = await load(store, rows, (done) => store.makeEntries(rowsOf(shape, done, rowsACommit), shape), async () => {
    const before = storeUs(store.pid);
    for (let i = 0; i < 10; i++) read += await store.indexRange(below(3), shape.place(0), 100);
    readUs += storeUs(store.pid) - before;
  });
  return { ...figures, rangeUs: readUs / read };
}

/** Commits of one row each by 1, 16, 64 and 256 writers at once. */
async function groups(store, rows) {
  const figures = {};
  for (const writers of [1, 16, 64, 256]) {
    const commits = Math.max(writers * 4, Math.floor(rows / 4));
    const waits = [];
    let left = commits;
    const writer = async () => {
      while (left-- > 0) {
        const entries = making(() => store.makePairs([pairRow()]));
        const start = performance.now();
        await store.write(entries);
        waits.push(performance.now() - start);
      }
    };
    const begun = performance.now();
    const us = await usOf(store, async () => {
      await Promise.all(Array.from({ length: writers }, writer));
      return commits;
    });
    const seconds = (performance.now() - begun) / 1000;
    waits.sort((a, b) => a - b);
    figures[writers] = { us, rate: commits / seconds, p50Ms: at(waits, 0.5), p99Ms: at(waits, 0.99) };
  }
  return { groups: figures };
}

const f = (value, digits = 1) => (value === undefined ? '-' : value.toFixed(digits));
const written = [
  ['CPU us a row: all, first, last tenth', (r) => `${f(r.us)}, ${f(r.usFirst)}, ${f(r.usLast)}`],
  ['last / first', (r) => f(r.usLast / r.usFirst, 2)],
  ['bytes written a row: all, last tenth', (r) => `${f(r.bytes, 0)}, ${f(r.bytesLast, 0)}`],
  ['on disk', (r) => f(r.diskBytes, 0)],
];
const ended = [
  ['p99.9 / longest commit ms', (r) => `${f(r.p999Ms, 0)} / ${f(r.longestMs, 0)}`],
  ['rows/s', (r) => f(r.rate, 0)],
  ['peak MB', (r) => f(r.peakMb, 0)],
];
const group = (writers) => [`${String(writers)} writers: commits/s, CPU us, p50 / p99 ms`, ({ groups: { [writers]: g } }) => `${f(g.rate, 0)}, ${f(g.us, 0)}, ${f(g.p50Ms, 2)} / ${f(g.p99Ms, 2)}`];

const ofIndexed = [...written, ['index range, CPU us a row: the first, behind the load, at rest', (r) => `${f(r.first.rangeUs, 2)}, ${f(r.rangeUs, 2)}, ${f(r.settled.rangeUs, 2)}`], ['range and fetch, CPU us a row', (r) => `${f(r.first.fetchUs, 1)}, ${f(r.fetchUs, 1)}, ${f(r.settled.fetchUs, 1)}`], ...ended];

/** By name: what runs, and the columns of its table. `iibench` and `purchases` have the same bytes of a user, with other contents. */
export const experiments = {
  puts: { run: puts, columns: [['rows a CPU-second', (r) => f(1e6 / r.us, 0)], ...written, [`get, CPU us: the first ${String(firstGets)}, behind the load, at rest`, (r) => `${f(r.firstUs)}, ${f(r.getUs)}, ${f(r.settled.getUs)}`], ['scan, CPU us a row', (r) => `${f(r.scanUs, 2)}, ${f(r.settled.scanUs, 2)}`], ...ended] },
  iibench: { run: (store, rows) => indexed(store, rows, shapes.randomColumns), columns: ofIndexed },
  purchases: { run: (store, rows) => indexed(store, rows, shapes.purchases), columns: ofIndexed },
  mixed: { run: mixed, columns: [...written.slice(0, 2), ['index range, CPU us a row', (r) => f(r.rangeUs, 2)], ...ended] },
  groups: { run: groups, columns: [1, 16, 64, 256].map(group) },
};
