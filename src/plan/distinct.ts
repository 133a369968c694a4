// `distinct`: the values at a path, each once, elements of arrays singly (manual: "distinct"). Where an index holds the path the values are
// read from it alone.

import { mappedItems, overItems } from '../base/long-lists.ts';
import { sortedOf } from '../base/long-sort.ts';
import { inSlices } from '../env/index.ts';
import { compareBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import { BsonArray, collated, encodeKey, parsePath, visitPath } from '../bson/index.ts';
import type { Document, Path, TextOrder, Value } from '../bson/index.ts';
import type { OperationContext } from '../session/index.ts';
import { KeySet } from './key-set.ts';
import { planQuery } from './plan-query.ts';
import type { DistinctRequest, QueryRequest, QueryTarget } from './types.ts';

const resultBytesMax = 16 * 1024 * 1024;

/** The values in BSON order. More than 16 MiB: 17217. */
export async function distinctValues(target: QueryTarget, request: DistinctRequest, context: OperationContext): Promise<readonly Value[]> {
  const plan = await planQuery(target, distinctQuery(request), context);
  const source = plan.open();
  const values = new DistinctValues(parsePath(request.field), request.collation);
  try {
    for (;;) {
      const batch = await source.next(context);
      if (batch === undefined) return await inSlices(context, () => values.inOrder());
      for (const document of batch) {
        const adding = inSlices(context, () => { values.add(document); });
        if (adding instanceof Promise) await adding;
      }
    }
  } finally {
    source.close();
  }
}

/** The query whose documents have the values. */
export function distinctQuery({ field, filter, hint, collation }: DistinctRequest): QueryRequest {
  return { filter, collation, hint, fieldsNeeded: [field], anyOrder: true, distinct: field };
}

class DistinctValues {
  readonly #found: { readonly key: Uint8Array; readonly value: Value }[] = [];
  readonly #path: Path;
  readonly #seen = new KeySet();
  readonly #order: TextOrder | undefined;
  #bytes = 0;

  constructor(path: Path, order: TextOrder | undefined) {
    this.#order = order;
    this.#path = path;
  }

  inOrder(): readonly Value[] {
    return mappedItems(sortedOf(this.#found, (a, b) => compareBytes(a.key, b.key)), ({ value }) => value);
  }

  /** Takes the values of a document in; once or again, where it was broken off. */
  add(document: Document): void {
    visitPath(document.raw, this.#path, (value, _offset, whole) => {
      if (value instanceof BsonArray && !whole) overItems(value.items(), () => this, (_, element) => { this.#addValue(element); });
      else if (value !== undefined) this.#addValue(value);
      return false;
    });
  }

  #addValue(value: Value): void {
    const key = encodeKey([collated(value, this.#order)]);
    if (!this.#seen.add(key)) return;
    this.#found.push({ key, value });
    this.#bytes += key.length + 8;
    if (this.#bytes > resultBytesMax) throw new CommandError(17217, 'Location17217', 'distinct too big, 16mb cap');
  }
}
