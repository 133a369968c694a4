// The one change of the tree that a job yields, applied whole in one synchronous step (law 14): nobody sees half of it.

import type { BlockNumber } from '../block/block-number.ts';
import type { Front } from './front.ts';
import type { SpilledFront } from './spilled.ts';
import type { Extent, InternalNode, TreeNode } from './node.ts';
import { extentsOf } from './node.ts';
import { isWhole } from '../run/range-delete.ts';
import type { RangeDelete } from '../run/range-delete.ts';
import type { Tree } from './tree.ts';

/** What a job changes. Nodes not named stay. */
export interface Edit {
  /** New versions of nodes, and new nodes. */
  readonly nodes: readonly TreeNode[];
  /** Nodes that are in the tree no more. */
  readonly removed: readonly BlockNumber[];
  /** Data blocks that the tree no longer names. */
  readonly dropped: readonly Extent[];
  /** Data blocks that it names now. */
  readonly added: readonly Extent[];
  readonly root: BlockNumber | undefined;
  readonly height: number | undefined;
  readonly leavesDelta: number;
  /** The front that is below now. */
  readonly flushed: Front | SpilledFront | undefined;
  /** A child that damage keeps what waits for it from going down to (job/hindrance.ts). */
  readonly hindered?: { readonly child: BlockNumber; readonly blocks: readonly BlockNumber[] };
}

/** Settings that decide when a buffer goes down. */
export interface FlushLimits {
  readonly bufferBytes: number;
  readonly runsMax: number;
  /** The oldest seq that anybody may read at: what a range delete of at most this seq hides, nobody sees. */
  readonly settledSeq: number;
}

/** This many range deletes of a child weigh as much as a full buffer. */
const rangesMax = 8;
/** And so many of those that hide what somebody still sees: pushing them would leave removes in the leaves. */
const unsettledMax = 64;

const stored = (extents: readonly Extent[]): number => extents.reduce((sum, extent) => sum + extent.fences.storedBytes, 0);
const raw = (extents: readonly Extent[]): number => extents.reduce((sum, extent) => sum + extent.fences.rawBytes, 0);
const blobs = (extents: readonly Extent[]): number => extents.reduce((sum, extent) => sum + extent.fences.blobBytes, 0);

/** A reference may hide a large value below: so many bytes of blobs count as one of messages. */
const blobBytesPerByte = 64;

/**
 * Many runs with less than this part of a full buffer, above a leaf and above nodes, are merged where they are: a leaf, as far as it can be larger than
 * they are, would be written for little, and nodes get runs that are smaller still.
 */
const thinAboveLeaf = 1 / 2;
const thinAboveNode = 1 / 4;

/** Applies an edit to its tree. Nodes it makes are dirty until the next checkpoint. */
export function applyEdit(tree: Tree, edit: Edit, limits: FlushLimits): void {
  tree.version += 1;
  if (edit.hindered !== undefined) tree.hinder(edit.hindered.child, edit.hindered.blocks);
  for (const node of edit.nodes) {
    tree.setDirty(node);
    if (node.kind === 'internal') weigh(tree, node, limits);
    else {
      tree.heavy.delete(node.number);
      // It was written anew, so it is whole.
      tree.hindered.delete(node.number);
    }
  }
  for (const number of edit.removed) {
    tree.hindered.delete(number);
    tree.dirty.delete(number);
    tree.endWriting(number);
    tree.heavy.delete(number);
    tree.unsettled.delete(number);
    tree.loose.delete(number);
  }
  if (tree.damaged.size > 0) for (const { block } of edit.dropped) tree.damaged.delete(block);
  if (edit.root !== undefined) tree.root = edit.root;
  if (edit.height !== undefined) tree.height = edit.height;
  tree.leaves += edit.leavesDelta;
  tree.storedBytes += stored(edit.added) - stored(edit.dropped);
  tree.rawBytes += raw(edit.added) - raw(edit.dropped);
  tree.blobBytes += blobs(edit.added) - blobs(edit.dropped);
  if (edit.flushed !== undefined) tree.flushed(edit.flushed);
}

/** Notes whether a node's heaviest buffer wants to go down. */
export function weigh(tree: Tree, node: InternalNode, limits: FlushLimits): void {
  const heaviest = heaviestChild(tree, node, limits);
  tree.noteInternal();
  tree.loose.add(node.number);
  if (heaviest.weight >= limits.bufferBytes) tree.heavy.set(node.number, heaviest.weight);
  else tree.heavy.delete(node.number);
  const unsettled = node.ranges.flat().filter(({ seq }) => seq > limits.settledSeq);
  if (unsettled.length > 0) tree.unsettled.set(node.number, Math.min(...unsettled.map(({ seq }) => seq)));
  else tree.unsettled.delete(node.number);
}

/** The child whose buffer weighs most. A buffer of too many runs weighs as much as a full one: reads must look into each. */
export function heaviestChild(tree: Tree, node: InternalNode, limits: FlushLimits): { readonly child: number; readonly weight: number } {
  let child = 0;
  let weight = -1;
  node.children.forEach((number, index) => {
    const own = tree.hindered.has(number) ? hinderedWeight(tree, node, index, limits) : bufferWeight(node, index, limits);
    if (own > weight) {
      child = index;
      weight = own;
    }
  });
  return { child, weight };
}

/** Whether a buffer weighs what it does for its many runs alone, with next to nothing in them. */
export function isThin(node: InternalNode, index: number, { limits, options }: { readonly limits: FlushLimits; readonly options: { readonly pageBytes: number } }): boolean {
  const buffer = node.buffers[index] ?? [];
  if (buffer.length <= limits.runsMax || rangesWeight(node, node.ranges[index] ?? [], limits) >= limits.bufferBytes) return false;
  const most = node.height === 1 ? Math.min(limits.bufferBytes * thinAboveLeaf, options.pageBytes) : limits.bufferBytes * thinAboveNode;
  return bytesOf(buffer) < most;
}

/** Bytes of messages, and a part of those of blobs that they refer to. */
function bytesOf(buffer: readonly Extent[]): number {
  return raw(buffer) + blobs(buffer) / blobBytesPerByte;
}

function bufferWeight(node: InternalNode, index: number, limits: FlushLimits): number {
  const buffer = node.buffers[index] ?? [];
  const bytes = bytesOf(buffer);
  const runs = buffer.length > limits.runsMax ? Math.max(bytes, limits.bufferBytes) : bytes;
  return Math.max(runs, rangesWeight(node, node.ranges[index] ?? [], limits));
}

/** Nothing goes down to a hindered child, but what waits for it is merged when it is many runs; a leaf that a range delete hides whole is not read at all. */
function hinderedWeight(tree: Tree, node: InternalNode, index: number, limits: FlushLimits): number {
  const buffer = node.buffers[index] ?? [];
  return goesUnread(tree, node, index, limits) || readableRuns(tree, buffer) > limits.runsMax ? limits.bufferBytes : 0;
}

/** Whether a child is a leaf that goes unread under a range delete, and what waits for it can be read. */
export function goesUnread(tree: Tree, node: InternalNode, index: number, { settledSeq }: FlushLimits): boolean {
  const isHidden = node.height === 1 && (node.ranges[index] ?? []).some((range) => isWhole(range) && range.seq <= settledSeq);
  return isHidden && !(node.buffers[index] ?? []).some(({ block }) => tree.damaged.has(block));
}

/** How many runs of a buffer, newest first, come before the first that is damaged. */
export function readableRuns(tree: Tree, buffer: readonly Extent[]): number {
  const first = buffer.findIndex(({ block }) => tree.damaged.has(block));
  return first < 0 ? buffer.length : first;
}

/** Range deletes go down at once where that frees whole leaves or subtrees, else in company. */
function rangesWeight(node: InternalNode, ranges: readonly RangeDelete[], { bufferBytes, settledSeq }: FlushLimits): number {
  if (ranges.length === 0) return 0;
  const frees = ranges.some((range) => range.seq <= settledSeq && (node.height > 1 || isWhole(range)));
  const most = ranges.some(({ seq }) => seq <= settledSeq) ? rangesMax : unsettledMax;
  return frees ? bufferBytes : Math.min(bufferBytes, (bufferBytes * ranges.length) / most);
}

/** The extents of some nodes. */
export function extentsOfAll(nodes: readonly TreeNode[]): Extent[] {
  return nodes.flatMap((node) => [...extentsOf(node)]);
}
