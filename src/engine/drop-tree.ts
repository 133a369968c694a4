// Taking a dropped tree apart once no snapshot can read it: every block it names is given back. The dictionary table lists it until the
// next checkpoint, so a crash in between only means doing it again.

import type { EngineParts } from './engine-parts.ts';
import type { JobRunner } from './job-runner.ts';
import type { BlockNumber } from './block/block-number.ts';
import type { Extent } from './tree/node.ts';
import { extentsOf } from './tree/node.ts';
import { isHindrance } from './tree/job/hindrance.ts';
import type { Tree } from './tree/tree.ts';

/** Frees all blocks of a tree and forgets it. */
export async function dropTree(parts: EngineParts, runner: JobRunner, tree: Tree): Promise<void> {
  const { state } = parts;
  const extents: Extent[] = [];
  const numbers: BlockNumber[] = [tree.root];
  for (let at = 0; at < numbers.length; at++) {
    const node = await parts.parts.node(tree, numbers[at] as BlockNumber).catch((error: unknown) => {
      // What is below a damaged node keeps its space.
      if (!isHindrance(error)) throw error;
    });
    if (node === undefined) continue;
    extents.push(...extentsOf(node));
    if (node.kind === 'internal') numbers.push(...node.children);
  }
  for (const extent of extents) runner.dropTreeExtent(extent);
  for (const number of numbers) runner.dropNode(number);
  runner.dropSpills(tree);
  state.forgetTree(tree);
}
