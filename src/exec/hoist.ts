// Moves the conditions of `$match` stages up, before stages that leave what they test as it is, so that fewer documents go through those
// and a plan can answer the conditions from an index. Follows the manual's page "Aggregation Pipeline Optimization".

import type { Stage } from './stage.ts';

/** The name that a dotted path begins with. */
export function topName(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : path.slice(0, dot);
}

/** For stages that write at these paths: what they leave as it is. Paths below one name are not told apart. */
export function leavesAllBut(paths: readonly string[]): (path: string) => boolean {
  const written = new Set(paths.map(topName));
  return (path) => !written.has(topName(path));
}

/** The same pipeline with its conditions as far up as they can go. */
export function hoisted(stages: readonly Stage[]): Stage[] {
  const made: Stage[] = [];
  for (const stage of stages) putIn(made, made.length, stage);
  return made;
}

/** Puts a stage before the one at `index`, and what can go further up of it there. */
function putIn(made: Stage[], index: number, stage: Stage): void {
  const leaves = made[index - 1]?.leaves;
  const parts = leaves === undefined ? undefined : stage.parted?.(leaves);
  if (parts === undefined) {
    made.splice(index, 0, stage);
    return;
  }
  if (parts.late !== undefined) made.splice(index, 0, parts.late);
  putIn(made, index - 1, parts.early);
}
