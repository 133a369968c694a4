// Conditional requests in the order of RFC 9110, section 13.2.2: If-Match, else If-Unmodified-Since; then If-None-Match, else
// If-Modified-Since; then Range with If-Range. Entity tags here are always strong.

import { parseHttpDate } from './http-date.ts';

/** The header fields that conditions are in. */
export interface ConditionFields {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-modified-since'?: string | undefined;
  readonly 'if-unmodified-since'?: string | undefined;
  readonly 'if-range'?: string | undefined;
}

/** What a stored representation is known by. */
export interface Validators {
  /** With its quotes. */
  readonly etag: string;
  /** Whole seconds, in milliseconds; undefined where the file has no date. */
  readonly lastModifiedMs: number | undefined;
}

/** What conditions make of a request: go on, 304 or 412. */
export type Verdict = 'proceed' | 'not-modified' | 'failed';

/** `current`: undefined where there is no representation. `reads`: the method is GET or HEAD. */
export function evaluateConditions(fields: ConditionFields, current: Validators | undefined, { reads, nowMs }: { readonly reads: boolean; readonly nowMs: number }): Verdict {
  if (!mayProceed(fields, current, nowMs)) return 'failed';
  if (isUnchanged(fields, current, { reads, nowMs })) return reads ? 'not-modified' : 'failed';
  return 'proceed';
}

function mayProceed(fields: ConditionFields, current: Validators | undefined, nowMs: number): boolean {
  const wanted = fields['if-match'];
  if (wanted !== undefined) return current !== undefined && matchesAny(wanted, current.etag, 'strong');
  const since = dateIn(fields['if-unmodified-since'], nowMs);
  return since === undefined || current?.lastModifiedMs === undefined || current.lastModifiedMs <= since;
}

function isUnchanged(fields: ConditionFields, current: Validators | undefined, { reads, nowMs }: { readonly reads: boolean; readonly nowMs: number }): boolean {
  const known = fields['if-none-match'];
  if (known !== undefined) return current !== undefined && matchesAny(known, current.etag, 'weak');
  const since = reads ? dateIn(fields['if-modified-since'], nowMs) : undefined;
  return since !== undefined && current?.lastModifiedMs !== undefined && current.lastModifiedMs <= since;
}

const dateIn = (text: string | undefined, nowMs: number): number | undefined => (text === undefined ? undefined : parseHttpDate(text.trim(), nowMs));

const tag = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/y;
const separator = /[ \t]*(?:,[ \t]*)+/y;

/** Whether a list of entity tags, or `*`, has this one. A malformed rest of a list has none. */
function matchesAny(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  const text = list.replace(/^[ \t,]+|[ \t,]+$/g, '');
  if (text === '*') return true;
  let at = 0;
  while (at < text.length) {
    tag.lastIndex = at;
    const match = tag.exec(text);
    if (match === null) return false;
    if (match[2] === etag && (comparison === 'weak' || match[1] === undefined)) return true;
    separator.lastIndex = tag.lastIndex;
    if (separator.exec(text) === null) return false;
    at = separator.lastIndex;
  }
  return false;
}

/**
 * Whether Range applies: no If-Range, or one that names what would be sent. A date must be that of the file to the second, and `dateIsStrong`
 * must know that no other file bore the name in that second (RFC 9110, 8.8.2.2).
 */
export function rangeApplies(ifRange: string | undefined, current: Validators, { nowMs, dateIsStrong }: { readonly nowMs: number; readonly dateIsStrong: boolean }): boolean {
  if (ifRange === undefined) return true;
  const text = ifRange.trim();
  if (text.startsWith('"') || text.startsWith('W/')) return text === current.etag;
  const date = parseHttpDate(text, nowMs);
  return date !== undefined && dateIsStrong && date === current.lastModifiedMs && nowMs - date >= 1000;
}
