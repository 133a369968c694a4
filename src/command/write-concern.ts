// What a write concern asks beyond what every acknowledged write has here (it is on disk): members that this one-member set does not have.

import { Document } from '../bson/index.ts';
import type { WriteConcern } from './generic-fields.ts';

/** The `writeConcernError` of a reply; undefined when the write concern is met. */
export function writeConcernError(concern: WriteConcern | undefined): Document | undefined {
  if (concern === undefined) return undefined;
  const { w } = concern;
  if (typeof w === 'number') {
    if (w <= 1) return undefined;
    return failure(100, 'UnsatisfiableWriteConcern', 'Not enough data-bearing nodes', concern);
  }
  if (w === 'majority') return undefined;
  return failure(79, 'UnknownReplWriteConcern', `No write concern mode named '${w}' found in replica set configuration`, concern);
}

function failure(code: number, codeName: string, errmsg: string, concern: WriteConcern): Document {
  const writeConcern = Document.of({ w: concern.w, wtimeout: 0, provenance: 'clientSupplied' });
  return Document.of({ code, codeName, errmsg, errInfo: Document.of({ writeConcern }) });
}
