// Merging the runs that wait for one child into one run that waits in their place, because reads look into all of them: the merge takes all of a list, so
// what is newer and older than its result is what it was (law 10), and ends nothing that only a leaf may end.

import type { Edit } from '../edit.ts';
import type { DueBuffer } from '../read-pressure.ts';
import type { Tree } from '../tree.ts';
import type { JobContext } from './job-context.ts';
import { hinder, tryNode } from './hindrance.ts';
import { bufferWork, present, sourcesOf } from './job-context.ts';
import { closeEdit } from './push-job.ts';
import type { JobStep } from './request.ts';
import { merge } from './request.ts';

/** Merges what waits for a child; undefined where it is no longer more than one run. Of a child that damage hinders it stays as it is. */
export function* mergeBufferJob(tree: Tree, context: JobContext, { node: number, child }: DueBuffer): JobStep<Edit | undefined> {
  const node = yield* tryNode(number);
  if (node?.kind !== 'internal') return undefined;
  const below = node.children[child];
  const buffer = node.buffers[child] ?? [];
  if (below === undefined || buffer.length < 2 || tree.hindered.has(below)) return undefined;
  try {
    const added = present(yield* merge(bufferWork(context, { sources: sourcesOf(buffer), ranges: node.ranges[child] ?? [] }, [])));
    const parent = { ...node, buffers: node.buffers.with(child, added) };
    return closeEdit(context, tree, { parent, below: [], added, dropped: buffer, leavesDelta: 0, removed: [] });
  } catch (error) {
    return hinder(node, below, error, buffer);
  }
}
