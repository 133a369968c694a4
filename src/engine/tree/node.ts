// Nodes of a tree: immutable objects under a stable block number. An edit makes new objects, so a checkpoint captures the tree by taking
// references, and a reader that holds a node sees no change. An internal node holds, for each child, a list of extents newest first (its
// buffer); a leaf is one extent. What is written of a node is in docs/file-format.md.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { compareBytes } from '../../base/bytes.ts';
import { EngineError } from '../../base/errors.ts';
import type { BlockNumber } from '../block/block-number.ts';
import { Fences } from '../run/fences.ts';
import { rangeBytes } from '../run/range-delete.ts';
import type { RangeDelete } from '../run/range-delete.ts';

/** A block of sorted messages and the table of its basements. */
export interface Extent {
  readonly block: BlockNumber;
  readonly fences: Fences;
}

/** The messages of one range of keys. `extent` is absent when there are none. */
export interface LeafNode {
  readonly kind: 'leaf';
  readonly number: BlockNumber;
  readonly extent: Extent | undefined;
}

/** Child `i` holds the keys from pivot `i - 1` (inside) to pivot `i` (outside). */
export interface InternalNode {
  readonly kind: 'internal';
  readonly number: BlockNumber;
  /** Levels below: 1 when the children are leaves. */
  readonly height: number;
  readonly pivots: readonly Uint8Array[];
  readonly children: readonly BlockNumber[];
  /** For each child what waits for it, newest first. */
  readonly buffers: readonly (readonly Extent[])[];
  /** For each child the range deletes that wait for it, clipped to it, in no order. What is below is older. */
  readonly ranges: readonly (readonly RangeDelete[])[];
}

export type TreeNode = LeafNode | InternalNode;

/** Number of the child whose range holds `key`. */
export function childOf(node: InternalNode, key: Uint8Array): number {
  let low = 0;
  let high = node.pivots.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(node.pivots[middle] as Uint8Array, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Memory to charge for a node. */
export function nodeBytes(node: TreeNode): number {
  if (node.kind === 'leaf') return 160 + (node.extent === undefined ? 0 : node.extent.fences.byteSize);
  let bytes = 256;
  for (const pivot of node.pivots) bytes += 96 + pivot.length;
  for (const buffer of node.buffers) for (const extent of buffer) bytes += 96 + extent.fences.byteSize;
  for (const ranges of node.ranges) for (const range of ranges) bytes += rangeBytes(range);
  return bytes;
}

/** The data blocks that a node names. */
export function extentsOf(node: TreeNode): readonly Extent[] {
  if (node.kind === 'leaf') return node.extent === undefined ? [] : [node.extent];
  return node.buffers.flat();
}

const leafTag = 1;
const internalTag = 2;

/** Writes an extent's block and fences. */
export function writeExtent(writer: ByteWriter, extent: Extent): void {
  writer.varint(extent.block);
  extent.fences.encode(writer);
}

/** Reads what writeExtent wrote. */
export function readExtent(reader: ByteReader): Extent {
  const block = reader.varint() as BlockNumber;
  return { block, fences: Fences.decode(reader) };
}

const rangeFlags = { from: 1, to: 2 } as const;

/** Writes a range delete. */
function writeRange(writer: ByteWriter, { from, to, seq }: RangeDelete): void {
  writer.varint(seq);
  writer.u8((from === undefined ? 0 : rangeFlags.from) | (to === undefined ? 0 : rangeFlags.to));
  for (const bound of [from, to]) {
    if (bound === undefined) continue;
    writer.varint(bound.length);
    writer.append(bound);
  }
}

/** Reads what writeRange wrote. */
function readRange(reader: ByteReader): RangeDelete {
  const seq = reader.varint();
  const flags = reader.u8();
  if (flags > 3) throw new EngineError('format', `a range delete with unknown flags ${flags}`);
  const from = (flags & rangeFlags.from) === 0 ? undefined : reader.copy(reader.varint());
  const to = (flags & rangeFlags.to) === 0 ? undefined : reader.copy(reader.varint());
  return { from, to, seq };
}

/** The bytes of a node as a meta block keeps them. */
export function encodeNode(node: TreeNode): Uint8Array {
  const writer = new ByteWriter(4096);
  if (node.kind === 'leaf') {
    writer.u8(leafTag);
    writer.u8(node.extent === undefined ? 0 : 1);
    if (node.extent !== undefined) writeExtent(writer, node.extent);
    return writer.bytes().slice();
  }
  writer.u8(internalTag);
  writer.varint(node.height);
  writer.varint(node.children.length);
  for (const pivot of node.pivots) {
    writer.varint(pivot.length);
    writer.append(pivot);
  }
  node.children.forEach((child, index) => {
    const buffer = node.buffers[index] ?? [];
    writer.varint(child);
    writer.varint(buffer.length);
    for (const extent of buffer) writeExtent(writer, extent);
    const ranges = node.ranges[index] ?? [];
    writer.varint(ranges.length);
    for (const range of ranges) writeRange(writer, range);
  });
  return writer.bytes().slice();
}

/** Reads what encodeNode wrote; anything else is EngineError `corruption` or `format`. */
export function decodeNode(number: BlockNumber, bytes: Uint8Array): TreeNode {
  const reader = new ByteReader(bytes);
  const tag = reader.u8();
  if (tag === leafTag) {
    const extent = reader.u8() === 1 ? readExtent(reader) : undefined;
    return { kind: 'leaf', number, extent };
  }
  if (tag !== internalTag) throw new EngineError('format', `a node of unknown kind ${tag}`);
  const height = reader.varint();
  const length = reader.varint();
  const pivots: Uint8Array[] = [];
  for (let i = 1; i < length; i++) pivots.push(reader.copy(reader.varint()));
  const children: BlockNumber[] = [];
  const buffers: Extent[][] = [];
  const ranges: RangeDelete[][] = [];
  for (let i = 0; i < length; i++) {
    children.push(reader.varint() as BlockNumber);
    const buffer: Extent[] = [];
    for (let left = reader.varint(); left > 0; left--) buffer.push(readExtent(reader));
    buffers.push(buffer);
    const waiting: RangeDelete[] = [];
    for (let left = reader.varint(); left > 0; left--) waiting.push(readRange(reader));
    ranges.push(waiting);
  }
  return { kind: 'internal', number, height, pivots, children, buffers, ranges };
}
