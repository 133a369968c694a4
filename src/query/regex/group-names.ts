// The groups of a pattern: how many there are and what they are called. Read in two passes, so that a reference may stand before its group.

import { invalid } from './reader.ts';

/** Group numbers by name, and the count. */
export class GroupNames {
  readonly #byName = new Map<string, Set<number>>();
  /** All groups; known after the first pass. */
  count = 0;
  #opened = 0;
  #complete = false;

  /** A pass begins. */
  begin(): void {
    this.#opened = 0;
  }

  /** The first pass is over: from now on references must lead somewhere. */
  complete(): void {
    this.#complete = true;
  }

  /** The number of a group that opens here. */
  open(name: string | undefined): number {
    this.#opened++;
    this.count = Math.max(this.count, this.#opened);
    if (name !== undefined) {
      if (!/^[\p{L}_][\p{L}\p{Nd}_]*$/u.test(name)) throw invalid('subpattern name must start with a non-digit');
      const known = this.#byName.get(name);
      if (known === undefined) this.#byName.set(name, new Set([this.#opened]));
      else if (!this.#complete && !known.has(this.#opened)) throw invalid('two named subpatterns have the same name (PCRE2_DUPNAMES not set)');
    }
    return this.#opened;
  }

  /** Groups opened so far; `resetTo` counts on from there. */
  mark(): number {
    return this.#opened;
  }

  resetTo(mark: number): void {
    this.#opened = mark;
  }

  /** The group of this number, which must exist. */
  check(group: number): number {
    if (this.#complete && (group < 1 || group > this.count)) throw invalid('reference to non-existent subpattern');
    return group;
  }

  /** The groups that a name, a number or a relative number speaks of. */
  resolve(text: string): readonly number[] {
    if (/^[-+]?[0-9]+$/.test(text)) {
      const number = Number(text);
      if (text.startsWith('-')) return [this.check(this.#opened + 1 + number)];
      return [this.check(text.startsWith('+') ? this.#opened + number : number)];
    }
    const groups = [...(this.#byName.get(text) ?? [])];
    if (groups.length === 0 && this.#complete) throw invalid('reference to non-existent subpattern');
    return groups;
  }

  /** The one group that is called. */
  resolveOne(text: string): number {
    return this.resolve(text)[0] ?? 0;
  }
}
