// What a statement of update, delete or findAndModify does to one document that its filter matches, whatever finds and locks it.

import type { TimeSeriesOptions } from '../../catalog/index.ts';
import type { Document, Value } from '../../bson/index.ts';
import type { Collation } from '../../collation/index.ts';
import type { ChangeShape } from '../../catalog/index.ts';
import type { Filter, SortKey } from '../../query/index.ts';

/** A document after its change; `after` undefined: it is removed. */
export interface Changed {
  readonly after: Document | undefined;
  readonly modified: boolean;
}

/** A compiled statement. */
export interface DocumentChange {
  readonly filter: Filter;
  /** The filter as it was given, to find out what it says of `_id`. */
  readonly filterDocument: Document;
  /** How the filter and the sort compare texts. */
  readonly collation: Collation | undefined;
  readonly sort?: SortKey | undefined;
  readonly hint?: Value | undefined;
  readonly bypassValidation: boolean;
  /** For the log: what an update writes; see InsertChoices. */
  readonly shape?: ChangeShape | 'replacement' | undefined;
  /** The change of a document that matches. Throws CommandError where the document refuses it. */
  apply(before: Document): Changed;
  /** Throws where the documents of a time series may not be changed so; absent: they may. */
  readonly checkTimeSeries?: ((options: TimeSeriesOptions) => void) | undefined;
  /** The operators, where the statement asks for an update without a read and says nothing that would need one. */
  readonly fast?: Document | undefined;
  /** The document to insert where none matches; undefined: none is. May give undefined for a document that is not to be inserted. */
  readonly upsert?: (() => Document | undefined) | undefined;
}
