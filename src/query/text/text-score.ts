// The score that a text search gave a document, kept beside the document: `$meta` and sorts read it, stages carry it on to what they make of the document.

import type { Document } from '../../bson/index.ts';

const scores = new WeakMap<Document, number>();
let inUse = false;

/** Keeps the score of a document. */
export function noteTextScore(document: Document, score: number): void {
  inUse = true;
  scores.set(document, score);
}

/** The score of a document; undefined where no search gave it one. */
export function textScoreOf(document: Document): number | undefined {
  return inUse ? scores.get(document) : undefined;
}

/** What was made of a document has its score. */
export function carryTextScore(from: Document, to: Document): void {
  if (!inUse || from === to) return;
  const score = scores.get(from);
  if (score !== undefined) scores.set(to, score);
}
