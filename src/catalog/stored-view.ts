// A view as the catalog keeps it: the collection or view below it and a pipeline. Commands resolve it.

import { BsonArray } from '../bson/index.ts';
import type { Document, Value } from '../bson/index.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import type { Collation } from '../collation/index.ts';
import { collationOf, describeView } from './options.ts';
import type { View } from './types.ts';

/** The one implementation of View. */
export class StoredView implements View {
  readonly kind = 'view';
  readonly ns: Namespace;
  readonly viewOn: string;
  readonly pipeline: readonly Value[];
  readonly collation: Collation | undefined;
  readonly entry: Extract<NameEntry, { readonly kind: 'view' }>;

  constructor(ns: Namespace, options: Document) {
    this.ns = ns;
    this.entry = { kind: 'view', options };
    const pipeline = options.get('pipeline');
    const viewOn = options.get('viewOn');
    this.viewOn = typeof viewOn === 'string' ? viewOn : '';
    this.collation = collationOf(options);
    this.pipeline = pipeline instanceof BsonArray ? pipeline.items() : [];
  }

  describe(): Document {
    return describeView(this.ns, this.entry.options);
  }
}
