// From the text of a pattern to its tree. Follows pcre2pattern(3); what is not there or not supported is refused as an invalid pattern.

import { anything, notNewline, verticalSpace } from './char-set.ts';
import { readClass } from './bracket.ts';
import { readEscape, readOctal } from './escape.ts';
import { canLookBehind } from './fixed-length.ts';
import { GroupNames } from './group-names.ts';
import { invalid, PatternReader } from './reader.ts';
import type { Assertion, ParsedRegex, RegexNode, RepeatNode } from './syntax.ts';

/** The options in force at a place in the pattern. */
export interface RegexFlags {
  readonly caseless: boolean;
  readonly multiline: boolean;
  readonly dotall: boolean;
  readonly extended: boolean;
  /** `(?n)`: plain parentheses do not catch. */
  readonly noCapture: boolean;
  /** `(*UCP)`: `\w` and its kin go by Unicode properties. */
  readonly unicode: boolean;
}

const GROUPS_DEEP_MAX = 250;
const REPEATS_DEEP_MAX = 20;
const REPEAT_MAX = 65535;

/** Parses a pattern under these flags. */
export function parseRegex(source: string, flags: RegexFlags): ParsedRegex {
  // Groups may be spoken of before they stand there: the first reading only learns what groups there are.
  const names = new GroupNames();
  new RegexParser(source, flags, names).whole();
  names.complete();
  const root = new RegexParser(source, flags, names).whole();
  return { root, groupCount: names.count };
}

const empty: RegexNode = { kind: 'sequence', items: [] };

class RegexParser {
  readonly #reader: PatternReader;
  readonly #names: GroupNames;
  #flags: RegexFlags;
  #depth = 0;

  constructor(source: string, flags: RegexFlags, names: GroupNames) {
    this.#reader = new PatternReader(source);
    this.#flags = flags;
    this.#names = names;
    names.begin();
  }

  whole(): RegexNode {
    this.#verbs();
    const root = this.#alternatives();
    if (!this.#reader.done) throw invalid('unmatched closing parenthesis');
    return root;
  }

  /** `(*UTF)` and its kin, in front of everything. */
  #verbs(): void {
    while (this.#reader.take('(*')) {
      const verb = this.#reader.takeUntil(')', '(*VERB) not recognized or malformed');
      if (verb === 'UCP') this.#flags = { ...this.#flags, unicode: true };
      else if (!/^(?:UTF8?|NO_START_OPT|NO_AUTO_POSSESS|NO_JIT|NO_DOTSTAR_ANCHOR|LF)$/.test(verb)) {
        throw invalid('(*VERB) not recognized or malformed');
      }
    }
  }

  #alternatives(): RegexNode {
    if (++this.#depth > GROUPS_DEEP_MAX) throw invalid('parentheses are too deeply nested');
    const flags = this.#flags;
    const branches = [this.#sequence()];
    while (this.#reader.take('|')) branches.push(this.#sequence());
    this.#flags = flags;
    this.#depth--;
    return branches.length === 1 ? (branches[0] ?? empty) : { kind: 'choice', branches };
  }

  #sequence(): RegexNode {
    const items: RegexNode[] = [];
    for (;;) {
      this.#skipIgnored();
      if (this.#reader.done || this.#reader.isNext('|') || this.#reader.isNext(')')) break;
      const atom = this.#atom();
      if (atom === undefined) continue;
      this.#skipIgnored();
      items.push(this.#quantified(atom));
    }
    return items.length === 1 ? (items[0] ?? empty) : { kind: 'sequence', items: joinText(items) };
  }

  /** White space and comments under `x`, comments in parentheses, and `\E` without a `\Q`. */
  #skipIgnored(): void {
    const reader = this.#reader;
    for (;;) {
      if (reader.take('(?#')) reader.takeUntil(')', 'missing ) after (?# comment');
      else if (reader.isNext('\\E')) reader.at += 2;
      else if (this.#flags.extended && /^\s$/.test(reader.peek())) reader.next();
      else if (this.#flags.extended && reader.isNext('#')) while (!reader.done && reader.next() !== '\n');
      else return;
    }
  }

  /** One thing that can be repeated; undefined for options in force from here on. */
  #atom(): RegexNode | undefined {
    const text = this.#reader.next();
    const { caseless, multiline, dotall } = this.#flags;
    switch (text) {
      case '\\':
        return this.#escape();
      case '[':
        return { kind: 'set', set: readClass(this.#reader, this.#flags.unicode), caseless };
      case '(':
        return this.#group();
      case '.':
        return { kind: 'set', set: dotall ? anything : notNewline, caseless: false };
      case '^':
        return this.#assertion(multiline ? 'lineStart' : 'start');
      case '$':
        return this.#assertion(multiline ? 'lineEnd' : 'endOrNewline');
      case '*':
      case '+':
      case '?':
        throw invalid('quantifier does not follow a repeatable item');
      default:
        return this.#point(text.codePointAt(0) ?? 0);
    }
  }

  #point(point: number): RegexNode {
    return { kind: 'text', points: [point], caseless: this.#flags.caseless };
  }

  #assertion(what: Assertion): RegexNode {
    return { kind: 'assertion', what, unicode: this.#flags.unicode };
  }

  #quantified(atom: RegexNode): RegexNode {
    let node = atom;
    for (let nesting = 0; ; nesting++) {
      const bounds = this.#bounds();
      if (bounds === undefined) return node;
      if (nesting === REPEATS_DEEP_MAX) throw invalid('quantifiers are too deeply nested');
      const mode = this.#reader.take('?') ? 'lazy' : this.#reader.take('+') ? 'possessive' : 'greedy';
      const repeat: RepeatNode = { kind: 'repeat', body: node, min: bounds[0], max: bounds[1], mode };
      node = repeat;
      this.#skipIgnored();
      if (/^[*+?]$/.test(this.#reader.peek())) throw invalid('quantifier does not follow a repeatable item');
    }
  }

  #bounds(): readonly [number, number] | undefined {
    const reader = this.#reader;
    if (reader.take('*')) return [0, Infinity];
    if (reader.take('+')) return [1, Infinity];
    if (reader.take('?')) return [0, 1];
    if (!reader.isNext('{')) return undefined;
    const start = reader.at;
    reader.next();
    const low = reader.takeWhile(/[0-9]/);
    const comma = reader.take(',');
    const high = comma ? reader.takeWhile(/[0-9]/) : low;
    if (low === '' || !reader.take('}')) {
      reader.at = start;
      return undefined;
    }
    const bounds = [Number(low), high === '' ? Infinity : Number(high)] as const;
    if (bounds[0] > REPEAT_MAX || (bounds[1] > REPEAT_MAX && bounds[1] !== Infinity)) throw invalid('number too big in {} quantifier');
    if (bounds[1] < bounds[0]) throw invalid('numbers out of order in {} quantifier');
    return bounds;
  }

  #escape(): RegexNode | undefined {
    const reader = this.#reader;
    if (/^[1-9]$/.test(reader.peek())) return this.#numericEscape();
    const escape = readEscape(reader, this.#flags.unicode, false);
    if (escape.kind === 'point') return this.#point(escape.point);
    if (escape.kind === 'set') return { kind: 'set', set: escape.set, caseless: this.#flags.caseless };
    return this.#letter(escape.letter);
  }

  #letter(letter: string): RegexNode | undefined {
    switch (letter) {
      case 'A':
        return this.#assertion('start');
      case 'Z':
        return this.#assertion('endOrNewline');
      case 'z':
        return this.#assertion('end');
      case 'G':
        return this.#assertion('searchStart');
      case 'b':
        return this.#assertion('wordBoundary');
      case 'B':
        return this.#assertion('notWordBoundary');
      case 'K':
        return { kind: 'keepOut' };
      case 'R':
        return newlineSequence;
      case 'Q':
        return this.#quoted();
      case 'g':
      case 'k':
        return this.#reference(letter);
      default:
        throw invalid(`\\${letter} is not supported`);
    }
  }

  #quoted(): RegexNode {
    const reader = this.#reader;
    const points: number[] = [];
    while (!reader.done && !reader.take('\\E')) points.push(reader.next().codePointAt(0) ?? 0);
    const last = points.pop();
    const { caseless } = this.#flags;
    if (last === undefined) return empty;
    const text: RegexNode = { kind: 'text', points: [last], caseless };
    if (points.length === 0) return text;
    return { kind: 'sequence', items: [{ kind: 'text', points, caseless }, this.#quantified(text)] };
  }

  /** `\1` to `\9` speak of groups; longer numbers do if there are as many groups, else they are octal. */
  #numericEscape(): RegexNode {
    const reader = this.#reader;
    const start = reader.at;
    const digits = reader.takeWhile(/[0-9]/);
    const group = Number(digits);
    if (digits.length === 1 || group <= this.#names.count) return this.#backReference([this.#names.check(group)]);
    reader.at = start;
    const first = reader.next();
    if (/[89]/.test(first)) return this.#point(first.codePointAt(0) ?? 0);
    const escape = readOctal(reader, first);
    return this.#point(escape.kind === 'point' ? escape.point : 0);
  }

  #backReference(groups: readonly number[]): RegexNode {
    return { kind: 'backReference', groups, caseless: this.#flags.caseless };
  }

  /** `\g{2}`, `\g-1`, `\g<name>`, `\k<name>` and their other spellings. */
  #reference(letter: string): RegexNode {
    const reader = this.#reader;
    for (const [open, close] of [['{', '}'], ['<', '>'], ["'", "'"]] as const) {
      if (!reader.take(open)) continue;
      const name = reader.takeUntil(close, 'syntax error in subpattern name (missing terminator?)');
      if (letter === 'g' && open !== '{') return { kind: 'call', group: this.#names.resolveOne(name) };
      return this.#backReference(this.#names.resolve(name));
    }
    const number = reader.takeWhile(/[-+0-9]/);
    if (letter === 'k' || number === '') throw invalid('a subpattern name must follow \\k or \\g');
    return this.#backReference(this.#names.resolve(number));
  }

  #group(): RegexNode | undefined {
    const reader = this.#reader;
    if (reader.isNext('*')) throw invalid('(*VERB) not recognized or malformed');
    if (!reader.take('?')) {
      if (this.#flags.noCapture) return this.#closed(this.#alternatives());
      return this.#capture(undefined);
    }
    for (const [open, close] of [['P<', '>'], ['<', '>'], ["'", "'"]] as const) {
      if (open === '<' && /^[=!]$/.test(reader.peek(1))) continue;
      if (reader.take(open)) return this.#capture(reader.takeUntil(close, 'syntax error in subpattern name (missing terminator?)'));
    }
    return this.#lookOrSpecial() ?? this.#options();
  }

  #capture(name: string | undefined): RegexNode {
    const index = this.#names.open(name);
    return { kind: 'group', index, body: this.#closed(this.#alternatives()) };
  }

  #closed(node: RegexNode): RegexNode {
    if (!this.#reader.take(')')) throw invalid('missing closing parenthesis');
    return node;
  }

  #look(ahead: boolean, negative: boolean): RegexNode {
    const body = this.#closed(this.#alternatives());
    if (!ahead && !canLookBehind(body)) throw invalid('lookbehind assertion is not fixed length');
    return { kind: 'look', ahead, negative, body };
  }

  #lookOrSpecial(): RegexNode | undefined {
    const reader = this.#reader;
    for (const [text, ahead, negative] of [['=', true, false], ['!', true, true], ['<=', false, false], ['<!', false, true]] as const) {
      if (reader.take(text)) return this.#look(ahead, negative);
    }
    if (reader.take(':')) return this.#closed(this.#alternatives());
    if (reader.take('>')) return { kind: 'atomic', body: this.#closed(this.#alternatives()) };
    if (reader.take('|')) return this.#branchReset();
    if (reader.take('(')) return this.#condition();
    if (reader.take('P=')) return this.#backReference(this.#names.resolve(reader.takeUntil(')', 'missing closing parenthesis')));
    if (reader.take('P>') || reader.take('&')) {
      return { kind: 'call', group: this.#names.resolveOne(reader.takeUntil(')', 'missing closing parenthesis')) };
    }
    if (/^[R0-9]$/.test(reader.peek()) || /^[-+][0-9]$/.test(reader.peek() + reader.peek(1))) {
      const target = reader.takeUntil(')', '(?R (recursive pattern call) must be followed by a closing parenthesis');
      return { kind: 'call', group: target === 'R' || target === '0' ? 0 : this.#names.resolveOne(target) };
    }
    return undefined;
  }

  /** `(?|`: each branch counts its groups from the same number. */
  #branchReset(): RegexNode {
    const branches: RegexNode[] = [];
    const start = this.#names.mark();
    let most = start;
    do {
      this.#names.resetTo(start);
      branches.push(this.#sequence());
      most = Math.max(most, this.#names.mark());
    } while (this.#reader.take('|'));
    this.#names.resetTo(most);
    return this.#closed({ kind: 'choice', branches });
  }

  #condition(): RegexNode {
    const reader = this.#reader;
    let groups: readonly number[] = [];
    let look: RegexNode | undefined;
    if (reader.isNext('?')) {
      reader.next();
      look = this.#lookOrSpecial();
      if (look?.kind !== 'look') throw invalid('assertion expected after (?( or (?(?C)');
    } else {
      const text = reader.takeUntil(')', 'missing closing parenthesis for condition');
      const name = /^(?:<(.*)>|'(.*)')$/.exec(text);
      if (text !== 'DEFINE') groups = this.#names.resolve(name?.[1] ?? name?.[2] ?? text);
    }
    const body = this.#closed(this.#alternatives());
    const branches = body.kind === 'choice' ? body.branches : [body];
    if (branches.length > 2) throw invalid('conditional subpattern contains more than two branches');
    return { kind: 'condition', groups, look, yes: branches[0] ?? empty, no: branches[1] ?? empty };
  }

  /** `(?i)` and `(?i:...)`. */
  #options(): RegexNode | undefined {
    const reader = this.#reader;
    const outer = this.#flags;
    let flags = reader.take('^') ? { ...outer, caseless: false, multiline: false, dotall: false, extended: false, noCapture: false } : outer;
    let value = true;
    for (;;) {
      const letter = reader.next();
      if (letter === ')') {
        this.#flags = flags;
        return undefined;
      }
      if (letter === ':') break;
      if (letter === '-') value = false;
      else {
        const name = Object.hasOwn(optionNames, letter) ? optionNames[letter] : undefined;
        if (name === undefined) throw invalid('unrecognized character after (? or (?-');
        flags = { ...flags, [name]: value };
      }
    }
    this.#flags = flags;
    const body = this.#closed(this.#alternatives());
    this.#flags = outer;
    return body;
  }
}

const optionNames: Readonly<Record<string, keyof RegexFlags>> = {
  i: 'caseless',
  m: 'multiline',
  s: 'dotall',
  x: 'extended',
  n: 'noCapture',
};

/** `\R`: CR LF together, or one vertical space. */
const newlineSequence: RegexNode = {
  kind: 'atomic',
  body: {
    kind: 'choice',
    branches: [
      { kind: 'text', points: [13, 10], caseless: false },
      { kind: 'set', set: verticalSpace, caseless: false },
    ],
  },
};

/** One text for texts that follow each other. */
function joinText(items: readonly RegexNode[]): RegexNode[] {
  const joined: RegexNode[] = [];
  let points: number[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (item.kind !== 'text') {
      joined.push(item);
    } else if (last?.kind === 'text' && item.caseless === last.caseless) {
      points.push(...item.points);
    } else {
      points = [...item.points];
      joined.push({ ...item, points });
    }
  }
  return joined;
}
