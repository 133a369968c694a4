// As many rows as the collection has documents, nothing read: for counts of all, and for pipelines that look at no field.

import type { Value } from '../bson/index.ts';
import type { Collection } from '../catalog/index.ts';
import { bareRow } from './row.ts';
import type { Execution, PlanStage, Row, RowSource } from './row.ts';

const rowsOfBatch = 1024;
const fullBatch: readonly Row[] = new Array<Row>(rowsOfBatch).fill(bareRow);

/** RECORD_STORE_FAST_COUNT. */
export class TotalRows implements PlanStage {
  readonly name = 'RECORD_STORE_FAST_COUNT';
  readonly inputs: readonly PlanStage[] = [];
  readonly #collection: Collection;

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** How many rows there are. */
  count(execution: Execution): number {
    return this.#collection.totals(execution.txn).rows;
  }

  open(execution: Execution): RowSource {
    const counters = execution.countersOf(this);
    let left = this.count(execution);
    return {
      next: async (context) => {
        await context.turn();
        if (left === 0) return undefined;
        const rows = left >= rowsOfBatch ? fullBatch : fullBatch.slice(0, left);
        left -= rows.length;
        counters.advanced += rows.length;
        counters.works += rows.length;
        return rows;
      },
      close: () => {
        left = 0;
      },
    };
  }

  details(): readonly (readonly [string, Value])[] {
    return [];
  }

  statistics(): readonly (readonly [string, Value])[] {
    return [];
  }
}
