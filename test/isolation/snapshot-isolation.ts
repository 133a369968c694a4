// Decides whether what clients saw is strong snapshot isolation: some order of commits in which every transaction reads one state that held at a
// moment between its begin and its end, and no two that overlap write one list. After Adya's dependencies as Elle reads them off lists,
// and Cerone and Gotsman's condition: a cycle of dependencies is allowed only if two anti-dependencies in it follow one another.
// Real time counts as a dependency: who begins after another was acknowledged sees it.

import type { Observed, Step } from './observed.ts';

/** Why an edge stands in the graph. */
type Edge = 'ww' | 'wr' | 'rw' | 'time';

interface Graph {
  /** By node: where it leads, and why. Nodes behind the transactions are moments. */
  readonly edges: ReadonlyMap<number, Edge>[];
}

/** The lists as they must have come to be. */
interface Lists {
  /** The longest state of each list that anybody read. */
  readonly order: ReadonlyMap<number, readonly number[]>;
  /** Number of the transaction that appended a value. */
  readonly writers: ReadonlyMap<number, number>;
}

/** Faults of the history in words; none when it is strong snapshot isolation. */
export function faultsOf(history: readonly Observed[]): readonly string[] {
  const faults: string[] = [];
  const lists = readLists(history, faults);
  if (faults.length > 0) return faults;
  checkAtomicity(history, lists, faults);
  if (faults.length > 0) return faults;
  const cycle = findCycle(graphOf(history, lists));
  if (cycle !== undefined) faults.push(`a cycle that snapshot isolation forbids: ${cycle.filter((node) => node < history.length).map((node) => describe(history, node)).join(' -> ')}`);
  return faults;
}

function describe(history: readonly Observed[], node: number): string {
  const steps = history[node]?.steps ?? [];
  const words = steps.map((step) => (step.kind === 'append' ? `append(${step.list}, ${step.value})` : `read(${step.list}, [..${step.values.slice(-3).join(' ')}])`));
  return `#${node} {${words.join('; ')}}`;
}

function readLists(history: readonly Observed[], faults: string[]): Lists {
  const writers = new Map<number, number>();
  history.forEach(({ steps }, transaction) => {
    for (const step of steps) if (step.kind === 'append') writers.set(step.value, transaction);
  });
  const order = new Map<number, readonly number[]>();
  for (const { outcome, steps } of history) {
    if (outcome !== 'committed') continue;
    for (const [list, values] of externalReads(steps)) if (values.length > (order.get(list)?.length ?? -1)) order.set(list, values);
  }
  history.forEach(({ outcome, steps }, transaction) => {
    if (outcome !== 'committed') return;
    for (const [list, values] of externalReads(steps)) checkRead({ list, values, transaction }, { order, writers }, history, faults);
  });
  return { order, writers };
}

/** For each list the state that the transaction found: its first read, less what it had appended itself before. */
function externalReads(steps: readonly Step[]): Map<number, readonly number[]> {
  const found = new Map<number, readonly number[]>();
  const own = new Map<number, number>();
  for (const step of steps) {
    if (step.kind === 'append') own.set(step.list, (own.get(step.list) ?? 0) + 1);
    else if (!found.has(step.list)) found.set(step.list, step.values.slice(0, step.values.length - (own.get(step.list) ?? 0)));
  }
  return found;
}

function checkRead(read: { readonly list: number; readonly values: readonly number[]; readonly transaction: number }, lists: Lists, history: readonly Observed[], faults: string[]): void {
  const { list, values, transaction } = read;
  const order = lists.order.get(list) ?? [];
  if (new Set(values).size !== values.length) faults.push(`#${transaction} read a value of list ${list} twice`);
  values.forEach((value, index) => {
    if (order[index] !== value) faults.push(`#${transaction} read list ${list} in another order than others did`);
    const writer = lists.writers.get(value);
    if (writer === undefined) faults.push(`#${transaction} read ${value}, which nobody wrote`);
    else if (history[writer]?.outcome === 'aborted') faults.push(`#${transaction} read ${value} of #${writer}, which was aborted`);
  });
}

/** What a transaction appends to one list stands together; what is acknowledged is there, and of what is there all is. */
function checkAtomicity(history: readonly Observed[], lists: Lists, faults: string[]): void {
  const places = new Map<number, number>();
  for (const values of lists.order.values()) values.forEach((value, index) => places.set(value, index));
  history.forEach(({ outcome, steps }, transaction) => {
    const appends = steps.filter((step) => step.kind === 'append');
    const there = appends.filter(({ value }) => places.has(value)).length;
    if (outcome === 'committed' && there < appends.length) faults.push(`#${transaction} was acknowledged, and ${appends.length - there} of its values are not there`);
    if (outcome !== 'committed' && there > 0 && there < appends.length) faults.push(`half of #${transaction} is there`);
    for (const list of new Set(appends.map((append) => append.list))) {
      const at = appends.filter((append) => append.list === list).map(({ value }) => places.get(value) ?? -1);
      if (at.some((place, index) => index > 0 && place >= 0 && place !== (at[index - 1] ?? 0) + 1)) faults.push(`others came between the values of #${transaction} in list ${list}`);
    }
  });
}

function graphOf(history: readonly Observed[], lists: Lists): Graph {
  const edges = Array.from({ length: history.length * 2 }, () => new Map<number, Edge>());
  const link = (from: number | undefined, to: number | undefined, edge: Edge): void => {
    if (from === undefined || to === undefined || from === to) return;
    const known = edges[from]?.get(to);
    // An anti-dependency is the weaker one: beside another it says nothing more.
    if (known === undefined || known === 'rw') edges[from]?.set(to, edge);
  };
  for (const order of lists.order.values()) {
    order.forEach((value, index) => {
      if (index > 0) link(lists.writers.get(order[index - 1] as number), lists.writers.get(value), 'ww');
    });
  }
  history.forEach(({ outcome, steps }, reader) => {
    if (outcome !== 'committed') return;
    for (const [list, values] of externalReads(steps)) {
      const last = values.at(-1);
      if (last !== undefined) link(lists.writers.get(last), reader, 'wr');
      const next = lists.order.get(list)?.[values.length];
      if (next !== undefined) link(reader, lists.writers.get(next), 'rw');
    }
  });
  linkTimes(history, link);
  return { edges };
}

/** Ends of transactions as a chain of moments: each leads to whoever begins after it, without an edge for every pair. */
function linkTimes(history: readonly Observed[], link: (from: number, to: number, edge: Edge) => void): void {
  const moments = history
    .map((transaction, index) => ({ index, at: transaction.ended }))
    .filter(({ index }) => history[index]?.outcome === 'committed')
    .sort((a, b) => a.at - b.at);
  moments.forEach(({ index }, place) => {
    link(index, history.length + index, 'time');
    const next = moments[place + 1];
    if (next !== undefined) link(history.length + index, history.length + next.index, 'time');
  });
  history.forEach(({ begun }, index) => {
    let [low, high] = [0, moments.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((moments[middle]?.at ?? 0) < begun) low = middle + 1;
      else high = middle;
    }
    const before = moments[low - 1];
    if (before !== undefined) link(history.length + before.index, index, 'time');
  });
}

/** A cycle without two anti-dependencies in a row, as its nodes. States are (node, whether an anti-dependency led here). */
function findCycle({ edges }: Graph): readonly number[] | undefined {
  const white = 0;
  const grey = 1;
  const black = 2;
  const colour = new Uint8Array(edges.length * 2);
  for (let start = 0; start < edges.length; start++) {
    if (colour[start * 2] !== white) continue;
    const path: { readonly state: number; readonly next: Iterator<readonly [number, Edge]> }[] = [];
    const enter = (state: number): void => {
      colour[state] = grey;
      path.push({ state, next: (edges[state >> 1] ?? new Map<number, Edge>()).entries() });
    };
    enter(start * 2);
    while (path.length > 0) {
      const top = path[path.length - 1] as (typeof path)[number];
      const step = top.next.next();
      if (step.done === true) {
        colour[top.state] = black;
        path.pop();
        continue;
      }
      const [node, edge] = step.value;
      if (edge === 'rw' && (top.state & 1) === 1) continue;
      const state = node * 2 + (edge === 'rw' ? 1 : 0);
      if (colour[state] === grey) return path.slice(path.findIndex((each) => each.state === state)).map((each) => each.state >> 1);
      if (colour[state] === white) enter(state);
    }
  }
  return undefined;
}
