// The state of one simulated disk, without time: files, names, and what of both a power failure may take. A name that was made, moved or
// taken away is durable only after its directory was synced; until then each such change is kept or lost on its own, except that changes
// of the same name stay in order. Nothing here waits: SimFiles puts it into time and adds the faults.

import { posix } from 'node:path';
import { FileTree } from '../../src/env/index.ts';
import type { SimInode } from './sim-inode.ts';
import type { SimRandom } from './sim-random.ts';

/** A change of names. */
export type NameChange =
  | { readonly kind: 'link'; readonly path: string; readonly inode: SimInode }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string; readonly inode: SimInode };

interface PendingName {
  /** How many changes there were before. */
  readonly at: number;
  readonly change: NameChange;
  /** Directories that must still be synced. */
  readonly awaits: Set<string>;
}

/** A write that had begun. */
export interface BegunWrite {
  readonly inode: SimInode;
  readonly source: Uint8Array;
  readonly offset: number;
}

/** What had begun when the power failed. */
export interface InFlight {
  readonly writes: readonly BegunWrite[];
  readonly names: readonly NameChange[];
}

function pathsOf(change: NameChange): string[] {
  return change.kind === 'rename' ? [change.path, change.to] : [change.path];
}

function applyName(tree: FileTree<SimInode>, change: NameChange, translate: (inode: SimInode) => SimInode): void {
  if (change.kind === 'link') tree.link(change.path, translate(change.inode));
  else if (change.kind === 'directory') tree.makeDirectory(change.path);
  else if (change.kind === 'unlink') tree.unlink(change.path);
  else {
    tree.link(change.to, translate(change.inode));
    if (change.path !== change.to) tree.unlink(change.path);
  }
}

/** Whether the change could be made: its directories may not be there, or the name may be gone with an earlier change. */
function tryName(tree: FileTree<SimInode>, change: NameChange, translate: (inode: SimInode) => SimInode): boolean {
  const parents = pathsOf(change).map((path) => posix.dirname(path));
  if (!parents.every((parent) => tree.isDirectory(parent))) return false;
  if (change.kind === 'rename' && tree.file(change.path) === undefined) {
    tree.link(change.to, translate(change.inode));
    return true;
  }
  if (change.kind === 'unlink' && tree.file(change.path) === undefined && !tree.isDirectory(change.path)) return true;
  if (change.kind === 'unlink' && tree.isDirectory(change.path) && tree.list(change.path).length > 0) return false;
  applyName(tree, change, translate);
  return true;
}

/** Files, names and their durable images. All paths are normal. */
export class SimDisk {
  readonly tree: FileTree<SimInode>;
  readonly #durable: FileTree<SimInode>;
  #pending: PendingName[] = [];
  #count = 0;

  constructor(tree: FileTree<SimInode> = new FileTree<SimInode>()) {
    this.tree = tree;
    this.#durable = tree.clone();
  }

  /** How many changes of names there were: what a directory sync that starts now will cover. */
  get mark(): number {
    return this.#count;
  }

  /** Makes a change of names; throws what the real file system would. */
  change(change: NameChange): void {
    applyName(this.tree, change, (inode) => inode);
    this.#pending.push({ at: this.#count, change, awaits: new Set(pathsOf(change).map((path) => posix.dirname(path))) });
    this.#count++;
  }

  /** A sync of this directory that began at `mark` has succeeded. */
  syncDirectory(path: string, mark: number): void {
    // A sync of another directory that began later may have ended before.
    for (const { at, awaits } of this.#pending) if (at < mark) awaits.delete(path);
    this.#settle();
  }

  /** Bytes that the files take. */
  usedBytes(): number {
    let used = 0;
    for (const [, inode] of this.tree.files()) used += inode.live.size;
    return used;
  }

  /** The disk after a power failure now. Changes nothing here, so one run can be crashed at each of its steps. */
  afterPowerLoss(inFlight: InFlight, random: SimRandom): SimDisk {
    const twins = new Map<SimInode, SimInode>();
    const translate = (inode: SimInode): SimInode => {
      let twin = twins.get(inode);
      if (twin === undefined) {
        twin = inode.afterPowerLoss(
          inFlight.writes.filter((write) => write.inode === inode),
          random,
        );
        twins.set(inode, twin);
      }
      return twin;
    };
    const tree = this.#durable.clone((inode) => translate(inode));
    const keep = random.pick([0, 0.1, 0.5, 0.9, 1]);
    const begun = inFlight.names.map((change) => ({ at: Infinity, change, awaits: new Set(['?']) }));
    const lost = new Set<string>();
    for (const { change, awaits } of [...this.#pending, ...begun]) {
      const names = pathsOf(change);
      const kept = awaits.size === 0 || (random.chance(keep) && !names.some((name) => lost.has(name)));
      if (!kept || !tryName(tree, change, translate)) for (const name of names) lost.add(name);
    }
    return new SimDisk(tree);
  }

  /** The disk after the end of the process alone: the system keeps what was written, synced or not. */
  afterProcessEnd(inFlight: InFlight, random: SimRandom): this {
    for (const { inode, source, offset } of inFlight.writes) {
      const length = random.pick([0, random.below(source.length + 1), source.length]);
      inode.write(source.subarray(0, length), offset);
    }
    for (const change of inFlight.names) {
      if (!random.chance(0.5)) continue;
      if (pathsOf(change).every((path) => this.tree.isDirectory(posix.dirname(path)))) this.change(change);
    }
    return this;
  }

  /** Moves to the durable tree what awaits nothing and has its directory there. */
  #settle(): void {
    this.#pending = this.#pending.filter(({ change, awaits }) => awaits.size > 0 || !tryName(this.#durable, change, (inode) => inode));
  }
}
