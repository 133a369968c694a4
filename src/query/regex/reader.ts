// Reads a pattern code point by code point, and says what is wrong with it in MongoDB's frame: 51091 "Regular expression is invalid".

import type { CommandError } from '../../base/errors.ts';
import { refuse } from '../refuse.ts';

/** The refusal of a pattern. */
export function invalid(reason: string): CommandError {
  return refuse(51091, `Regular expression is invalid: ${reason}`);
}

/** A pattern being read. */
export class PatternReader {
  readonly #points: readonly string[];
  at = 0;

  constructor(source: string) {
    this.#points = Array.from(source);
  }

  get done(): boolean {
    return this.at >= this.#points.length;
  }

  /** The code point `ahead` of the next one; '' beyond the end. */
  peek(ahead = 0): string {
    return this.#points[this.at + ahead] ?? '';
  }

  next(): string {
    const point = this.#points[this.at] ?? '';
    this.at++;
    return point;
  }

  /** Whether this text comes next. */
  isNext(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.peek(i) !== text[i]) return false;
    return true;
  }

  /** Takes this text if it comes next. */
  take(text: string): boolean {
    if (!this.isNext(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Takes code points as long as they match. */
  takeWhile(pattern: RegExp): string {
    let text = '';
    while (!this.done && pattern.test(this.peek())) text += this.next();
    return text;
  }

  /** Takes everything up to this text, and the text. */
  takeUntil(end: string, reason: string): string {
    let text = '';
    while (!this.isNext(end)) {
      if (this.done) throw invalid(reason);
      text += this.next();
    }
    this.at += end.length;
    return text;
  }
}
