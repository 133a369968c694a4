// The values that a compound sort or index sees in a document: one tuple for each way through its arrays. A missing field is null, an
// empty array at the end of a path is undefined (below null), and an array on the way of several paths is entered by all of them
// together. Follows the manual's pages "Multikey Indexes" and "Sort Order: Arrays".

import { looped } from '../base/long-work.ts';
import { BsonArray, bsonUndefined, decodeElement, Document, findField } from '../bson/index.ts';
import type { Path, Value } from '../bson/index.ts';
import { overElements } from './elements.ts';

/** How far one path has come: at a value (missing: undefined), with components from `next` on still to go. */
interface Step {
  readonly path: Path;
  readonly at: Value | undefined;
  readonly next: number;
}

/** Two paths of one tuple lead through different arrays. */
export interface ParallelArrays {
  readonly first: string;
  readonly second: string;
}

/** The tuples of the document, in the order of its arrays; at least one. `onParallel` must throw. */
export function tuplesOf(doc: Document, paths: readonly Path[], onParallel: (arrays: ParallelArrays) => never): Value[][] {
  const steps = paths.map((path): Step => ({ path, at: doc, next: 0 }));
  const begin = (): Value[][] => [];
  // What has been gathered is kept where a long array is left for a while; a tuple that is there twice means nothing.
  const tuples = looped(begin, (found) => {
    expand(steps, found, onParallel);
    return true;
  });
  return tuples ?? [];
}

function expand(steps: readonly Step[], tuples: Value[][], onParallel: (arrays: ParallelArrays) => never): void {
  const moved = steps.map(advance);
  const open = moved.filter(isOpen);
  const first = open[0];
  if (first === undefined) {
    tuples.push(moved.map((step) => step.at ?? null));
    return;
  }
  const array = first.at;
  const prefix = prefixOf(first);
  for (const step of open) {
    if (prefixOf(step) !== prefix) onParallel({ first: prefix, second: prefixOf(step) });
  }
  if (array.isEmpty) {
    const emptied = moved.map((step): Step => (isOpen(step) ? ended(step, isLeaf(step) ? bsonUndefined : null) : step));
    expand(emptied, tuples, onParallel);
    return;
  }
  overElements(array, () => tuples, (_, item) => {
    const entered = moved.map((step): Step => {
      if (!isOpen(step)) return step;
      if (isLeaf(step)) return ended(step, item);
      return item instanceof Document ? { ...step, at: item } : ended(step, null);
    });
    expand(entered, tuples, onParallel);
  });
}

function isLeaf(step: Step): boolean {
  return step.next === step.path.parts.length;
}

/** The step at its end with this value, which is taken as it is from here on. */
function ended(step: Step, value: Value): Step {
  return { path: step.path, at: value, next: Infinity };
}

/** Whether the step stands before an array that is still to be entered. */
function isOpen(step: Step): step is Step & { readonly at: BsonArray } {
  return step.at instanceof BsonArray && step.next !== Infinity;
}

function prefixOf(step: Step): string {
  return step.path.parts
    .slice(0, step.next)
    .map((part) => part.name.text)
    .join('.');
}

/** Goes on through documents, and through arrays by index, as far as that leads. */
function advance(step: Step): Step {
  const { path } = step;
  let { at, next } = step;
  while (next < path.parts.length) {
    const part = path.parts[next];
    if (part === undefined) break;
    if (at instanceof Document) {
      const element = findField(at.bytes, at.start, part.name);
      at = element < 0 ? undefined : decodeElement(at.bytes, element);
    } else if (at instanceof BsonArray) {
      if (part.index < 0) break;
      at = at.at(part.index);
    } else {
      at = undefined;
    }
    next++;
    if (at === undefined) return { path, at: undefined, next: Infinity };
  }
  return { path, at, next };
}
