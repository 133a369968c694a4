// Choosing a way. Every index whose first field the filter bounds is a candidate, and every index that gives the order of the sort. One
// candidate alone is taken as it is; of several the cheapest by the number of entries each has to read, the documents it has to fetch, and
// what a sort costs. The figures are microseconds as measured, rough: only their ratios matter.

import { must } from '../base/assert.ts';
import type { CatalogTransaction, Collection, Index } from '../catalog/index.ts';
import { collectionAccess, indexAccess, intersectionAccess, unionAccess } from './access.ts';
import type { Access, Wanted } from './access.ts';
import { conditionsOf } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { estimateSizes } from './estimate.ts';
import { holdsAll } from './implication.ts';
import type { IndexBounds } from './index-bounds.ts';
import { everything, isEverything } from './interval.ts';
import type { Interruptible } from './row.ts';
import { inSlices } from '../env/index.ts';
import { boundsFor } from './special-bounds.ts';

const costOfEntry = 0.4;
const costOfFetch = 4;
const costOfSorting = 2;
const costOfScannedDocument = 0.8;
/** Below this many entries an intersection is not worth its set. */
const intersectionEntriesMin = 2000;

/** What is planned, and for what. */
export interface Choice {
  readonly txn: CatalogTransaction;
  readonly collection: Collection;
  /** The indexes that may be taken. */
  readonly indexes: readonly Index[];
  readonly conditions: Conditions;
  readonly wanted: Wanted;
  /** Rows that will be taken at most; undefined: all. */
  readonly limit: number | undefined;
}

/** The chosen way and those it was chosen over. */
export interface Chosen {
  readonly access: Access;
  readonly rejected: readonly Access[];
}

/** The cheapest way. */
export async function chooseAccess(choice: Choice, context: Interruptible): Promise<Chosen> {
  const finding = inSlices(context, () => candidatesOf(choice));
  const candidates = finding instanceof Promise ? await finding : finding;
  if (candidates.length === 1) return { access: await inSlices(context, () => accessOf(choice, must(candidates[0], 'one'))), rejected: [] };
  if (candidates.length === 0) return { access: (await unionOf(choice, context)) ?? (await inSlices(context, () => collectionAccess(choice.collection, choice.conditions, 1))), rejected: [] };
  return chooseByCost(choice, candidates, context);
}

/** The bounds of every index that may serve. */
function candidatesOf({ indexes, conditions, wanted, limit }: Choice): IndexBounds[] {
  const candidates: IndexBounds[] = [];
  const usable = indexes.filter((index) => holdsAll(index, conditions.conjuncts));
  for (const bounds of usable.flatMap((index) => boundsFor(index, conditions))) {
    const { index } = bounds;
    const bounded = !isEverything(bounds.fields[0] ?? everything);
    if (bounded || (wanted.sort !== undefined && wanted.sort.parts.length > 0 && indexAccess(bounds, conditions, wanted).sorted)) candidates.push(bounds);
    else if (conditions.conjuncts.length === 0 && limit === undefined && coversAll(index, bounds, { conditions, wanted })) candidates.push(bounds);
  }
  return candidates;
}

interface Coverage {
  readonly conditions: Conditions;
  readonly wanted: Wanted;
}

/** Whether an index without bounds answers a whole scan from its entries alone. */
function coversAll(index: Index, bounds: IndexBounds, { conditions, wanted }: Coverage): boolean {
  if (wanted.anyOrder !== true || wanted.output === 'documents' || wanted.output === 'none' || index.isPrimary || index.clustering || index.isMultikey) return false;
  return !index.sparse && index.partialFilter === undefined && indexAccess(bounds, conditions, wanted).gives === 'entries';
}

function accessOf({ conditions, wanted }: Choice, bounds: IndexBounds): Access {
  return indexAccess(bounds, conditions, wanted);
}

/** A union of scans, one for each branch of a condition that is an or; undefined where a branch has no index. */
async function unionOf(choice: Choice, context: Interruptible): Promise<Access | undefined> {
  for (const node of choice.conditions.conjuncts) {
    if (node.kind !== 'or') continue;
    const branches: Access[] = [];
    for (const child of node.children) {
      const conditions = await inSlices(context, () => conditionsOf(child));
      const wanted: Wanted = { ...choice.wanted, output: 'none', sort: undefined, bare: false };
      const branch: Choice = { ...choice, conditions, wanted };
      if (candidatesOf(branch).length === 0) break;
      branches.push((await chooseAccess(branch, context)).access);
    }
    if (branches.length === node.children.length) return unionAccess(branches, choice.conditions, choice.wanted);
  }
  return undefined;
}

async function chooseByCost(choice: Choice, candidates: readonly IndexBounds[], context: Interruptible): Promise<Chosen> {
  const { txn, limit, collection } = choice;
  const total = collection.totals(txn).rows;
  const bounded = candidates.filter((bounds) => !isEverything(bounds.fields[0] ?? everything));
  const sizes = await estimateSizes({ txn, collection, candidates: bounded, whole: limit === undefined }, context);
  const sizeFor = (bounds: IndexBounds): number => sizes.get(bounds) ?? total;
  const smallest = Math.min(total, ...bounded.map(sizeFor));
  const ranked = await inSlices(context, () => candidates
    .map((bounds) => ({ access: accessOf(choice, bounds), cost: costOf(choice, bounds, { entries: sizeFor(bounds), matching: smallest }) }))
    .sort((a, b) => a.cost - b.cost));
  const both = intersectionOf(choice, bounded, { sizeFor, total });
  const best = must(ranked[0], 'a candidate');
  const rejected = ranked.slice(1).map(({ access }) => access);
  if (both !== undefined && both.cost < best.cost) return { access: both.access, rejected: [best.access, ...rejected] };
  return { access: best.access, rejected };
}

interface Sizes {
  /** Entries in the bounds. */
  readonly entries: number;
  /** Documents that match at most, as the narrowest candidate says. */
  readonly matching: number;
}

function costOf(choice: Choice, bounds: IndexBounds, { entries, matching }: Sizes): number {
  const access = accessOf(choice, bounds);
  const total = Math.max(entries, 1);
  // What an entry test leaves is guessed from the narrowest candidate.
  const tested = access.stage.name === 'IXSCAN' && access.residual.length < choice.conditions.conjuncts.length;
  const fetched = access.gives === 'keys' && choice.wanted.output !== 'none' ? (tested ? Math.min(entries, Math.max(matching, 1)) : entries) : 0;
  const fetchedForTest = access.residual.length > 0 ? entries : fetched;
  const blocking = choice.wanted.sort !== undefined && !access.sorted;
  const needed = choice.limit === undefined || blocking ? 1 : Math.min(1, (choice.limit + 1) / Math.max(Math.min(matching, total), 1));
  const perEntry = access.gives === 'documents' ? costOfScannedDocument : costOfEntry;
  return (entries * perEntry + fetchedForTest * costOfFetch) * needed + (blocking ? Math.min(entries, matching) * costOfSorting : 0);
}

/** Two scans whose common keys are few. */
function intersectionOf(
  choice: Choice,
  bounded: readonly IndexBounds[],
  { sizeFor, total }: { readonly sizeFor: (bounds: IndexBounds) => number; readonly total: number },
): { readonly access: Access; readonly cost: number } | undefined {
  if (choice.limit !== undefined || choice.wanted.sort !== undefined) return undefined;
  const usable = bounded
    .filter((bounds) => bounds.settled.size > 0 && !bounds.index.isPrimary && !bounds.index.clustering)
    .sort((a, b) => sizeFor(a) - sizeFor(b));
  const [first, ...others] = usable;
  const second = others.find((bounds) => [...bounds.settled].some((conjunct) => first?.settled.has(conjunct) === false));
  if (first === undefined || second === undefined || sizeFor(first) < intersectionEntriesMin) return undefined;
  const access = intersectionAccess([first, second], choice.conditions);
  const matching = (sizeFor(first) * sizeFor(second)) / Math.max(total, 1);
  const fetched = access.residual.length === 0 && choice.wanted.output === 'none' ? 0 : matching;
  return { access, cost: (sizeFor(first) * 2 + sizeFor(second)) * costOfEntry + fetched * costOfFetch };
}
