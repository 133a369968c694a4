// What a tree looks like now, level by level: the fronts that commits land in, the nodes with what waits in their buffers, the leaves. Leaves are
// not read: what is theirs is the tree's total without the buffers. The tree goes on changing meanwhile; a walk that an edit has crossed begins
// again, a few times, for counts of two states would be the shape of none.

import type { BlockNumber } from './block/block-number.ts';
import type { EngineParts } from './engine-parts.ts';
import { SpilledFront } from './tree/spilled.ts';
import type { InternalNode } from './tree/node.ts';
import type { Tree } from './tree/tree.ts';
import type { TreeLevel } from './types.ts';

const attemptsMax = 5;

/** What waits at one level. */
interface Waiting {
  nodes: number;
  runs: number;
  messages: number;
  rawBytes: number;
  diskBytes: number;
}

const nothing = (): Waiting => ({ nodes: 0, runs: 0, messages: 0, rawBytes: 0, diskBytes: 0 });

/** The levels from the top. Without those of the nodes where edits come faster than a walk ends. */
export async function treeLevels(engine: EngineParts, tree: Tree): Promise<readonly TreeLevel[]> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { version } = tree;
    const nodes = await nodeLevels(engine, tree, version);
    if (nodes !== undefined && tree.version === version) return [frontLevel(tree), ...nodes, leafLevel(tree, nodes)];
  }
  return [frontLevel(tree), leafLevel(tree, [])];
}

function frontLevel(tree: Tree): TreeLevel {
  const level = nothing();
  for (const front of tree.fronts()) {
    if (front.isVoid) continue;
    level.nodes += 1;
    level.messages += front.count;
    level.rawBytes += front.messageBytes;
    if (front instanceof SpilledFront) for (const { fences } of front.spill.extents) level.diskBytes += fences.storedBytes;
  }
  return { kind: 'fronts', height: tree.height + 1, fill: undefined, ...level };
}

/** The levels of internal nodes, the root first; undefined where an edit came between. */
async function nodeLevels(engine: EngineParts, tree: Tree, version: number): Promise<readonly TreeLevel[] | undefined> {
  const levels: TreeLevel[] = [];
  let numbers: readonly BlockNumber[] = [tree.root];
  for (let { height } = tree; height > 0; height--) {
    const level = nothing();
    const below: BlockNumber[] = [];
    for (const number of numbers) {
      const found = tree.node(number) ?? (await engine.parts.node(tree, number).catch((error: unknown) => {
        // The block of a node that went may have another's bytes by now.
        if (tree.version === version) throw error;
        return undefined;
      }));
      if (tree.version !== version || found?.kind !== 'internal') return undefined;
      count(level, found);
      for (const child of found.children) below.push(child);
    }
    levels.push({ kind: 'nodes', height, fill: level.nodes === 0 ? undefined : below.length / level.nodes / tree.options.fanout, ...level });
    numbers = below;
  }
  return levels;
}

function count(level: Waiting, { buffers, ranges }: InternalNode): void {
  level.nodes += 1;
  for (const buffer of buffers) {
    level.runs += buffer.length;
    for (const { fences } of buffer) {
      level.messages += fences.count;
      level.rawBytes += fences.rawBytes;
      level.diskBytes += fences.storedBytes;
    }
  }
  for (const waiting of ranges) level.messages += waiting.length;
}

function leafLevel({ leaves, rawBytes, storedBytes, options }: Tree, nodes: readonly TreeLevel[]): TreeLevel {
  const [raw, disk] = [rawBytes - sum(nodes, 'rawBytes'), storedBytes - sum(nodes, 'diskBytes')];
  return { kind: 'leaves', height: 0, nodes: leaves, runs: 0, messages: 0, rawBytes: raw, diskBytes: disk, fill: leaves === 0 ? undefined : raw / leaves / options.pageBytes };
}

const sum = (levels: readonly TreeLevel[], field: 'rawBytes' | 'diskBytes'): number => levels.reduce((total, level) => total + level[field], 0);
