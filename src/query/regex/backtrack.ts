// A backtracking matcher for the patterns that no linear engine can run: back-references, look-ahead, atomic groups, conditions, calls. It
// counts its steps, and a pattern that takes too many on a text is an error instead of a server that stands still.
// The tree is compiled once into closures, each of which tries to match at a position and then goes on with what follows.

import { looped, spend } from '../../base/long-work.ts';
import { refuse } from '../refuse.ts';
import { caseVariants, has, wordSet } from './char-set.ts';
import type { Assertion, ConditionNode, ParsedRegex, RegexNode, RepeatNode } from './syntax.ts';
import { setHas } from './to-re2.ts';

/** Steps from one place of a text: a few milliseconds, and somewhat more for each character of a long one, but never what others would notice. */
const STEPS_MAX = 100_000;
const STEPS_PER_CHARACTER = 4;
const STEPS_LIMIT = 2_000_000;
/** So many steps are about as much work as a unit of other work. */
const STEPS_PER_UNIT = 8;
const ROUND_STEPS = 2048;

/** Goes on matching at a UTF-16 position; true if all that follows matched. */
type Matcher = (at: number) => boolean;

/** One place where a pattern was found, in UTF-16 indexes. */
export interface Found {
  readonly start: number;
  readonly end: number;
  readonly captures: readonly (string | undefined)[];
}

/** Where a search has come to. */
interface Search {
  at: number;
  /** Steps since it last went on. */
  steps: number;
  found: Found | undefined;
}

/** A search in less goes on to its end. */
const SHORT_TEXT = 256;

/** How often a repetition has gone round, and where its last round began. */
interface Round {
  count: number;
  began: number;
  readonly outer: Round | undefined;
}

const asciiWord = wordSet(false);
const unicodeWord = wordSet(true);

/** A compiled pattern. It keeps its state between calls only while one runs. */
export class BacktrackingRegex {
  readonly #parsed: ParsedRegex;
  readonly #start: Matcher;
  readonly #bodies = new Map<number, RegexNode>();
  readonly #returns: Matcher[] = [];
  #text = '';
  #from = 0;
  #steps = 0;
  #stepsMax = 0;
  #found = 0;
  /** Where \K put the start of the match, or -1. */
  #kept = -1;
  /** Start and end of each group, -1 where it took no part. */
  #captures: number[] = [];

  constructor(parsed: ParsedRegex) {
    this.#parsed = parsed;
    this.#bodies.set(0, parsed.root);
    this.#collectBodies(parsed.root);
    this.#start = this.#compile(parsed.root, (at) => {
      this.#found = at;
      return true;
    });
  }

  /** The first match at or behind `from`. Throws CommandError 51156 if that takes too long. */
  find(text: string, from: number): Found | undefined {
    if (text.length - from < SHORT_TEXT) return this.#findFrom(text, from, { at: from, steps: 0, found: undefined }).found;
    const search = looped(
      (): Search => ({ at: from, steps: 0, found: undefined }),
      (state) => {
        spend(state.steps / STEPS_PER_UNIT);
        this.#findFrom(text, from, state);
        return state.found !== undefined || state.at > text.length;
      },
    );
    return search?.found;
  }

  /** Goes on with a search until it has found something or has done a good deal; a search in a short text to its end. */
  #findFrom(text: string, from: number, search: Search): Search {
    this.#text = text;
    this.#from = from;
    this.#stepsMax = Math.min(STEPS_MAX + text.length * STEPS_PER_CHARACTER, STEPS_LIMIT);
    search.steps = 0;
    try {
      // An attempt that fails takes back what it caught.
      this.#captures = new Array<number>((this.#parsed.groupCount + 1) * 2).fill(-1);
      this.#kept = -1;
      this.#returns.length = 0;
      while (search.at <= text.length && (search.steps < ROUND_STEPS || text.length - from < SHORT_TEXT)) {
        const { at } = search;
        this.#steps = 0;
        const isFound = this.#start(at);
        search.steps += this.#steps + 1;
        search.at += widthAt(text, at) || 1;
        if (!isFound) continue;
        search.found = this.#result(at);
        break;
      }
      return search;
    } catch (error) {
      // A stack that is full is the same excess as a step too many.
      if (error instanceof RangeError) throw tooMuch(error);
      throw error;
    } finally {
      this.#text = '';
    }
  }

  #result(at: number): Found {
    const captures: (string | undefined)[] = [];
    for (let group = 1; group <= this.#parsed.groupCount; group++) captures.push(this.#captured(group));
    return { start: this.#kept < 0 ? at : this.#kept, end: this.#found, captures };
  }

  #captured(group: number): string | undefined {
    const start = this.#captures[group * 2] ?? -1;
    const end = this.#captures[group * 2 + 1] ?? -1;
    return start < 0 || end < 0 ? undefined : this.#text.slice(start, end);
  }

  #collectBodies(node: RegexNode): void {
    switch (node.kind) {
      case 'group':
        this.#bodies.set(node.index, node);
        this.#collectBodies(node.body);
        return;
      case 'sequence':
        for (const item of node.items) this.#collectBodies(item);
        return;
      case 'choice':
        for (const branch of node.branches) this.#collectBodies(branch);
        return;
      case 'condition':
        this.#collectBodies(node.yes);
        this.#collectBodies(node.no);
        return;
      case 'repeat':
      case 'atomic':
      case 'look':
        this.#collectBodies(node.body);
        return;
      default:
    }
  }

  #step(): void {
    if (++this.#steps > this.#stepsMax) throw tooMuch();
  }

  #compile(node: RegexNode, next: Matcher): Matcher {
    switch (node.kind) {
      case 'text':
        return this.#literal(node.points, node.caseless, next);
      case 'set':
        return (at) => {
          this.#step();
          const width = widthAt(this.#text, at);
          return width > 0 && setHas(node, this.#text.codePointAt(at) ?? 0) && next(at + width);
        };
      case 'sequence':
        return node.items.reduceRight((follows, item) => this.#compile(item, follows), next);
      case 'choice': {
        const branches = node.branches.map((branch) => this.#compile(branch, next));
        return (at) => branches.some((branch) => branch(at));
      }
      case 'repeat':
        return this.#repeat(node, next);
      case 'group':
        return this.#group(node.index, node.body, next);
      case 'assertion': {
        const holds = this.#assertion(node.what, node.unicode);
        return (at) => holds(at) && next(at);
      }
      case 'backReference':
        return this.#backReference(node.groups, node.caseless, next);
      case 'keepOut':
        return (at) => {
          const before = this.#kept;
          this.#kept = at;
          if (next(at)) return true;
          this.#kept = before;
          return false;
        };
      default:
        return this.#compileRare(node, next);
    }
  }

  #compileRare(node: Extract<RegexNode, { kind: 'atomic' | 'look' | 'condition' | 'call' }>, next: Matcher): Matcher {
    switch (node.kind) {
      case 'atomic': {
        const alone = this.#alone(node.body);
        return (at) => this.#restoring(() => {
          const end = alone(at);
          return end >= 0 && next(end);
        });
      }
      case 'look': {
        const holds = this.#look(node);
        return (at) => this.#restoring(() => holds(at) && next(at));
      }
      case 'condition':
        return this.#condition(node, next);
      case 'call':
        return this.#call(node.group, next);
    }
  }

  /** What is caught is forgotten again if the attempt fails. */
  #restoring(attempt: () => boolean): boolean {
    const before = this.#captures.slice();
    if (attempt()) return true;
    this.#captures = before;
    return false;
  }

  #literal(points: readonly number[], caseless: boolean, next: Matcher): Matcher {
    if (!caseless) {
      const wanted = String.fromCodePoint(...points);
      return (at) => {
        this.#step();
        return this.#text.startsWith(wanted, at) && next(at + wanted.length);
      };
    }
    const variants = points.map((point) => new Set(caseVariants(point)));
    return (at) => {
      this.#step();
      let end = at;
      for (const allowed of variants) {
        const width = widthAt(this.#text, end);
        if (width === 0 || !allowed.has(this.#text.codePointAt(end) ?? 0)) return false;
        end += width;
      }
      return next(end);
    };
  }

  #group(index: number, body: RegexNode, next: Matcher): Matcher {
    const starts: number[] = [];
    const inner = this.#compile(body, (at) => {
      const { [index * 2]: oldStart = -1, [index * 2 + 1]: oldEnd = -1 } = this.#captures;
      const start = starts.pop() ?? at;
      this.#captures[index * 2] = start;
      this.#captures[index * 2 + 1] = at;
      if (next(at)) return true;
      this.#captures[index * 2] = oldStart;
      this.#captures[index * 2 + 1] = oldEnd;
      starts.push(start);
      return false;
    });
    return (at) => {
      starts.push(at);
      if (inner(at)) return true;
      starts.pop();
      return false;
    };
  }

  #repeat(node: RepeatNode, next: Matcher): Matcher {
    if (node.mode === 'possessive') {
      return this.#compile({ kind: 'atomic', body: { ...node, mode: 'greedy' } }, next);
    }
    const { body } = node;
    if (body.kind === 'set') return this.#repeatSet(node, (point) => setHas(body, point), next);
    if (body.kind === 'text' && body.points.length === 1) {
      const allowed = new Set(body.caseless ? caseVariants(body.points[0] ?? 0) : body.points);
      return this.#repeatSet(node, (point) => allowed.has(point), next);
    }
    return this.#repeatAny(node, next);
  }

  /** A repetition of single characters goes round without nesting. */
  #repeatSet({ min, max, mode }: RepeatNode, allows: (point: number) => boolean, next: Matcher): Matcher {
    const one = (at: number): number => {
      const width = widthAt(this.#text, at);
      return width > 0 && allows(this.#text.codePointAt(at) ?? 0) ? width : 0;
    };
    if (mode === 'lazy') {
      return (at) => {
        let end = at;
        for (let count = 0; ; count++) {
          this.#step();
          if (count >= min && next(end)) return true;
          const width = count < max ? one(end) : 0;
          if (width === 0) return false;
          end += width;
        }
      };
    }
    return (at) => {
      let end = at;
      let count = 0;
      while (count < max) {
        this.#step();
        const width = one(end);
        if (width === 0) break;
        end += width;
        count += 1;
      }
      for (; count >= min; count--) {
        this.#step();
        if (next(end)) return true;
        end = previous(this.#text, end);
      }
      return false;
    };
  }

  #repeatAny({ body, min, max, mode }: RepeatNode, next: Matcher): Matcher {
    let round: Round | undefined;
    const leave = (at: number): boolean => {
      const left = round;
      round = left?.outer;
      if (next(at)) return true;
      round = left;
      return false;
    };
    const again = (at: number): boolean => {
      const current = round;
      if (current === undefined || current.count >= max) return false;
      round = { count: current.count + 1, began: at, outer: current.outer };
      if (inner(at)) return true;
      round = current;
      return false;
    };
    const turn: Matcher = (at) => {
      this.#step();
      const current = round;
      if (current === undefined) return false;
      // A round that took nothing would go on for ever.
      if (current.count >= min && current.began === at) return leave(at);
      if (current.count < min) return again(at);
      return mode === 'greedy' ? again(at) || leave(at) : leave(at) || again(at);
    };
    const inner = this.#compile(body, turn);
    return (at) => {
      const before = round;
      round = { count: 0, began: -1, outer: before };
      if (turn(at)) return true;
      round = before;
      return false;
    };
  }

  #assertion(what: Assertion, unicode: boolean): Matcher {
    const words = unicode ? unicodeWord : asciiWord;
    const isWord = (at: number): boolean => at >= 0 && at < this.#text.length && has(words, this.#text.codePointAt(at) ?? 0);
    const isBoundary = (at: number): boolean => isWord(previous(this.#text, at)) !== isWord(at);
    const isEnd = (at: number): boolean => at === this.#text.length;
    const rules: Readonly<Record<Assertion, Matcher>> = {
      start: (at) => at === 0,
      lineStart: (at) => at === 0 || (this.#text[at - 1] === '\n' && at < this.#text.length),
      end: isEnd,
      endOrNewline: (at) => isEnd(at) || (at === this.#text.length - 1 && this.#text[at] === '\n'),
      lineEnd: (at) => isEnd(at) || this.#text[at] === '\n',
      wordBoundary: isBoundary,
      notWordBoundary: (at) => !isBoundary(at),
      searchStart: (at) => at === this.#from,
    };
    return rules[what];
  }

  #backReference(groups: readonly number[], caseless: boolean, next: Matcher): Matcher {
    return (at) => {
      this.#step();
      const caught = groups.map((group) => this.#captured(group)).find((text) => text !== undefined);
      if (caught === undefined) return false;
      if (!caseless) return this.#text.startsWith(caught, at) && next(at + caught.length);
      const here = this.#text.slice(at, at + caught.length);
      return here.toLowerCase() === caught.toLowerCase() && next(at + here.length);
    };
  }

  /** Matches a part by itself: the end of its first way to match, or -1. */
  #alone(body: RegexNode): (at: number) => number {
    let end = -1;
    const inner = this.#compile(body, (at) => {
      end = at;
      return true;
    });
    return (at) => (inner(at) ? end : -1);
  }

  #look(node: Extract<RegexNode, { kind: 'look' }>): Matcher {
    const { ahead, negative } = node;
    if (ahead) {
      const alone = this.#alone(node.body);
      return negative ? (at) => !this.#trying(() => alone(at) >= 0) : (at) => alone(at) >= 0;
    }
    let goal = -1;
    const inner = this.#compile(node.body, (at) => at === goal);
    const behind = (at: number): boolean => {
      const outer = goal;
      goal = at;
      let found = false;
      for (let start = at; start >= 0 && !found; start = start === 0 ? -1 : previous(this.#text, start)) {
        this.#step();
        found = inner(start);
      }
      goal = outer;
      return found;
    };
    return negative ? (at) => !this.#trying(() => behind(at)) : behind;
  }

  /** Tries something and forgets what it caught. */
  #trying(attempt: () => boolean): boolean {
    const before = this.#captures.slice();
    const result = attempt();
    this.#captures = before;
    return result;
  }

  #condition(node: ConditionNode, next: Matcher): Matcher {
    const yes = this.#compile(node.yes, next);
    const no = this.#compile(node.no, next);
    const holds =
      node.look?.kind === 'look' ? this.#look(node.look) : (): boolean => node.groups.some((group) => this.#captured(group) !== undefined);
    return (at) => (holds(at) ? yes(at) : no(at));
  }

  /** Runs the body of a group, or the whole pattern, and comes back; what is caught inside is forgotten. */
  #call(group: number, next: Matcher): Matcher {
    let body: Matcher | undefined;
    return (at) => {
      this.#step();
      body ??= this.#compile(this.#bodies.get(group) ?? { kind: 'sequence', items: [] }, (end) => this.#comeBack(end));
      const before = this.#captures.slice();
      this.#returns.push((end) => {
        const inner = this.#captures;
        this.#captures = before.slice();
        if (next(end)) return true;
        this.#captures = inner;
        return false;
      });
      if (body(at)) return true;
      this.#returns.pop();
      this.#captures = before;
      return false;
    };
  }

  #comeBack(end: number): boolean {
    const back = this.#returns.pop();
    if (back === undefined) return false;
    if (back(end)) return true;
    this.#returns.push(back);
    return false;
  }
}

function tooMuch(cause?: unknown): Error {
  return refuse(51156, 'Error occurred while executing the regular expression: match limit exceeded', cause);
}

/** UTF-16 units of the code point at a position; 0 at the end. */
function widthAt(text: string, at: number): number {
  if (at >= text.length) return 0;
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The position of the code point before this one; -1 before the first. */
function previous(text: string, at: number): number {
  if (at <= 0) return -1;
  const pair = at >= 2 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return pair ? at - 2 : at - 1;
}
