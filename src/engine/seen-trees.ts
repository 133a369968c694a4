// The trees as one transaction sees them: those of its snapshot, and those that it makes itself, which nobody else sees before the commit.

import { EngineError } from '../base/errors.ts';
import { emptyRecord } from './state.ts';
import type { EngineState } from './state.ts';
import { Tree } from './tree/tree.ts';
import type { DictionaryId, DictionaryOptions, Seq } from './types.ts';

const noBlock = 0 as Tree['root'];
const noTrees: Map<DictionaryId, Tree> = new Map();

/** Trees by their dictionaries. One that is not there is `unknown-dictionary`. */
export class SeenTrees {
  readonly #state: EngineState;
  readonly #snapshot: Seq;
  #created: Map<DictionaryId, Tree> = noTrees;

  constructor(state: EngineState, snapshot: Seq) {
    this.#state = state;
    this.#snapshot = snapshot;
  }

  /** Makes a dictionary with an empty tree. */
  create(options: DictionaryOptions): DictionaryId {
    const state = this.#state;
    const id = state.nextDictionary++ as DictionaryId;
    const tree = new Tree(emptyRecord({ id, options, createdSeq: 0, root: noBlock }), state.cache, state.updates);
    tree.setDirty({ kind: 'leaf', number: noBlock, extent: undefined });
    if (this.#created === noTrees) this.#created = new Map();
    this.#created.set(id, tree);
    return id;
  }

  /** Whether the transaction has made it. */
  isOwn(id: DictionaryId): boolean {
    return this.#created.has(id);
  }

  /** Forgets those that it has made and that are to go. */
  keepOnly(stays: (id: DictionaryId) => boolean): void {
    for (const id of this.#created.keys()) if (!stays(id)) this.#created.delete(id);
  }

  /** The tree of the snapshot. */
  seen(id: DictionaryId): Tree {
    return this.at(id, this.#snapshot);
  }

  /** The tree as of a seq. */
  at(id: DictionaryId, seq: Seq): Tree {
    return this.#created.get(id) ?? this.#state.treeAt(id, seq);
  }

  /** The tree for writing: one that somebody dropped since the snapshot is a conflict (`write-conflict`). A statement writes what is newest. */
  toWrite(id: DictionaryId): Tree {
    const tree = this.#created.get(id) ?? this.#state.trees.get(id);
    if (tree === undefined) throw new EngineError('unknown-dictionary', `there is no dictionary ${id}`, { place: { dictionary: id } });
    if (tree.isGoing) {
      if (tree.droppedSeq <= this.#snapshot) return this.seen(id);
      throw new EngineError('write-conflict', `dictionary ${id} was dropped`, { place: { dictionary: id } });
    }
    return tree;
  }
}
