// One document by its `_id`: no plan is cheaper.

import type { Document, Value } from '../bson/index.ts';
import type { Collection, RecordKey } from '../catalog/index.ts';
import type { Filter } from '../query/index.ts';
import { matches } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

/** IDHACK. */
export class IdLookup implements PlanStage {
  readonly name = 'IDHACK';
  readonly inputs: readonly PlanStage[] = [];
  readonly indexName = '_id_';
  readonly #collection: Collection;
  readonly #key: RecordKey;
  readonly #filter: Filter | undefined;

  /** `filter`: what else must be true. */
  constructor(collection: Collection, key: RecordKey, filter: Filter | undefined) {
    this.#collection = collection;
    this.#key = key;
    this.#filter = filter;
  }

  open(execution: Execution): RowSource {
    const counters = execution.countersOf(this);
    let done = false;
    return {
      next: async (context: Interruptible): Promise<readonly Row[] | undefined> => {
        context.checkInterrupt();
        if (done) return undefined;
        done = true;
        const found = this.#collection.get(execution.txn, this.#key);
        const document: Document | undefined = found instanceof Promise ? await found : found;
        if (document === undefined) return undefined;
        counters.keysExamined += 1;
        counters.docsExamined += 1;
        counters.works += 1;
        if (this.#filter !== undefined && !(await matches(this.#filter, document, context))) return undefined;
        counters.advanced += 1;
        return [{ key: this.#key, document, entry: undefined }];
      },
      close: () => {
        done = true;
      },
    };
  }

  details(): readonly (readonly [string, Value])[] {
    return [];
  }

  statistics(counters: Counters): readonly (readonly [string, Value])[] {
    return [
      ['keysExamined', counters.keysExamined],
      ['docsExamined', counters.docsExamined],
    ];
  }
}

/** EOF: nothing can match, or there is no collection. */
export class Nothing implements PlanStage {
  readonly name = 'EOF';
  readonly inputs: readonly PlanStage[] = [];

  open(): RowSource {
    return { next: () => Promise.resolve(undefined), close: () => undefined };
  }

  details(): readonly (readonly [string, Value])[] {
    return [];
  }

  statistics(): readonly (readonly [string, Value])[] {
    return [];
  }
}
