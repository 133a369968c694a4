// What a read comes to: a value, a reference to one that lies elsewhere, or nothing; and what updates make of it. What is to be made of a value that
// must be fetched first is kept with the reference (laws 11 and 23).

import { decodeReference } from '../run/blob-reference.ts';
import type { BlobReference } from '../run/blob-reference.ts';
import { messageKinds } from '../run/message.ts';
import type { Run } from '../run/run.ts';
import { applyChain } from '../run/update.ts';
import type { UpdateFunctions } from '../types.ts';

/** A value that lies elsewhere, and the updates of it, newest first. */
export interface FoundReference extends BlobReference {
  readonly updates?: readonly Uint8Array[];
}

/** What a search found: a value, a reference to one, or `removed`, or nothing. */
export type Found = Uint8Array | FoundReference | 'removed' | undefined;

/** Whether what was found is a reference. */
export function isReference(found: Found): found is FoundReference {
  return typeof found === 'object' && 'segment' in found;
}

/** What a message that is no update says of its key. */
export function said(kind: number | undefined, value: Uint8Array): Exclude<Found, undefined> {
  if (kind === messageKinds.put) return value;
  return kind === messageKinds.reference ? decodeReference(value) : 'removed';
}

/** As `said`, of a message of a run that is no remove. */
export function saidBy(run: Run, index: number): Exclude<Found, undefined> {
  return said(run.kinds[index], run.value(index));
}

/** What updates, newest first, make of what was found below them. */
export function updatedBy(functions: UpdateFunctions, base: Found, newestFirst: readonly Uint8Array[]): Exclude<Found, undefined> {
  if (isReference(base)) return { ...base, updates: [...newestFirst, ...(base.updates ?? [])] };
  return applyChain(functions, base === 'removed' ? undefined : base, newestFirst) ?? 'removed';
}
