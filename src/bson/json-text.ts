// A JSON reader (RFC 8259) that keeps the order and the repetition of names and the text of numbers, which JSON.parse loses: objects
// become arrays of pairs, never JavaScript objects with names that somebody else chose. Nesting is limited.

import { CommandError } from '../base/errors.ts';

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object's members in their order. */
export class JsonObject {
  readonly members: readonly (readonly [string, JsonNode])[];

  constructor(members: readonly (readonly [string, JsonNode])[]) {
    this.members = members;
  }

  /** The first member of that name. */
  get(name: string): JsonNode | undefined {
    return this.members.find((member) => member[0] === name)?.[1];
  }
}

export type JsonNode = string | boolean | null | JsonNumber | JsonObject | readonly JsonNode[];

const depthMax = 200;
const quote = 0x22;
const backslash = 0x5c;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const spacePattern = /[ \t\r\n]*/y;
const words: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** Reads one JSON text; anything else is CommandError 9 FailedToParse. */
export function parseJson(text: string): JsonNode {
  const reader = new JsonReader(text);
  const node = reader.value(0);
  reader.end();
  return node;
}

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    if (depth > depthMax) throw this.#fault('nesting is too deep');
    this.#take(spacePattern);
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  end(): void {
    this.#take(spacePattern);
    if (this.#at !== this.#text.length) throw this.#fault('the text goes on behind its end');
  }

  #object(depth: number): JsonObject {
    const members: [string, JsonNode][] = [];
    this.#at++;
    if (this.#skip('}')) return new JsonObject(members);
    do {
      this.#take(spacePattern);
      const name = this.#string();
      if (!this.#skip(':')) throw this.#fault("expected ':'");
      members.push([name, this.value(depth + 1)]);
    } while (this.#skip(','));
    if (!this.#skip('}')) throw this.#fault("expected ',' or '}'");
    return new JsonObject(members);
  }

  #array(depth: number): readonly JsonNode[] {
    const items: JsonNode[] = [];
    this.#at++;
    if (this.#skip(']')) return items;
    do items.push(this.value(depth + 1));
    while (this.#skip(','));
    if (!this.#skip(']')) throw this.#fault("expected ',' or ']'");
    return items;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    if (text.charAt(start) !== '"') throw this.#fault('expected a string');
    let escaped = false;
    let at = start + 1;
    for (let unit = text.charCodeAt(at); unit !== quote; unit = text.charCodeAt(at)) {
      // Behind the end the unit is NaN.
      if (!(unit >= 0x20)) throw this.#fault('a string does not end');
      if (unit === backslash) escaped = true;
      at += unit === backslash ? 2 : 1;
    }
    this.#at = at + 1;
    if (!escaped) return text.slice(start + 1, at);
    const plain = unescape(text.slice(start, at + 1));
    if (plain === undefined) throw this.#fault('a string has a wrong escape');
    return plain;
  }

  #word(): boolean | null | JsonNumber {
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    const source = this.#take(numberPattern);
    if (source === '') throw this.#fault('expected a value');
    return new JsonNumber(source);
  }

  #skip(character: string): boolean {
    this.#take(spacePattern);
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at++;
    return true;
  }

  /** What the pattern matches at the current offset, or nothing. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #fault(reason: string): CommandError {
    return new CommandError(9, 'FailedToParse', `JSON: ${reason} at offset ${String(this.#at)}`);
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** The text between the quotes, escapes replaced; undefined if one is not known. */
function unescape(source: string): string | undefined {
  let text = '';
  let from = 1;
  for (let at = source.indexOf('\\'); at >= 0; at = source.indexOf('\\', from)) {
    text += source.slice(from, at);
    const letter = source.charAt(at + 1);
    const digits = source.slice(at + 2, at + 6);
    if (letter === 'u' && /^[0-9a-fA-F]{4}$/.test(digits)) {
      text += String.fromCharCode(Number.parseInt(digits, 16));
      from = at + 6;
    } else {
      const plain = escapes.get(letter);
      if (plain === undefined) return undefined;
      text += plain;
      from = at + 2;
    }
  }
  return text + source.slice(from, -1);
}
