// A find that asks for one document by its `_id` and for nothing else, which is most of them: no filter is compiled and no plan made. The reply and
// the account of what was read are those of the plan that there would be (IDHACK). Whatever is not plain is left to `find`.

import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { type CatalogTransaction, type Collection, type Namespace, type Soon } from '../../catalog/index.ts';
import type { PlanAccount } from '../../session/index.ts';
import type { CommandContext, Reply } from '../command.ts';
import { beginRead } from '../storage-scope.ts';
import type { FindFields } from './find-fields.ts';
import { exactId } from './id-filter.ts';

/** One read under `_id`, as those see it who count and log. */
class IdRun implements PlanAccount {
  readonly summary = 'IDHACK';
  readonly #found: number;

  constructor(isFound: boolean) {
    this.#found = isFound ? 1 : 0;
  }

  examined(): { readonly keys: number; readonly documents: number } {
    return { keys: this.#found, documents: this.#found };
  }
}

const idIndexes: readonly string[] = ['_id_'];

/** Fields that say more than which document, whatever they say. */
const weighty: readonly (keyof FindFields)[] = ['sort', 'projection', 'hint', 'skip', 'ntoreturn', 'min', 'max', 'collation', 'let', 'returnKey', 'showRecordId', 'tailable'];

/** The value of `_id` that a find asks for that says nothing else of weight; undefined: it says more. */
function plainId(fields: FindFields): Value | undefined {
  const { filter, limit, batchSize, singleBatch } = fields;
  if (filter === undefined || filter.fields.length !== 1) return undefined;
  for (const name of weighty) if (fields[name] !== undefined) return undefined;
  // A batch that is full leaves its cursor open.
  const isWhole = batchSize === undefined || batchSize > 1 || (batchSize === 1 && (singleBatch === true || limit === 1));
  return isWhole ? exactId(filter) : undefined;
}

/** Whether somebody has said how such a query is planned. */
function isAdvised({ server, operation }: CommandContext, ns: Namespace): boolean {
  return operation.advice !== undefined || server.indexFilters.of(ns.text) !== undefined;
}

/** The reply to a find by `_id`; undefined where it is not as plain as that, and nothing was done. */
export function findById(context: CommandContext, fields: FindFields, ns: Namespace): Soon<Reply> | undefined {
  const id = plainId(fields);
  if (id === undefined || context.generic.readConcern?.level === 'snapshot' || isAdvised(context, ns)) return undefined;
  const scope = beginRead(context);
  let isOpen = false;
  try {
    const collection = context.server.catalog.lookup(scope.txn, ns);
    if (collection === undefined || collection instanceof Promise || collection.kind !== 'collection') return undefined;
    if (!collection.isKeyedById || collection.options.collation !== undefined) return undefined;
    context.operation.checkInterrupt();
    const found = read(collection, scope.txn, id);
    if (!(found instanceof Promise)) return reply(context, ns, found);
    isOpen = true;
    return found.then((later) => reply(context, ns, later)).finally(() => {
      scope.end();
    });
  } finally {
    if (!isOpen) scope.end();
  }
}

function read(collection: Collection, txn: CatalogTransaction, id: Value): Soon<Document | undefined> {
  return collection.get(txn, collection.keyOf(id));
}

function reply({ operation, server }: CommandContext, ns: Namespace, found: Document | undefined): Reply {
  operation.runs.push(new IdRun(found !== undefined));
  server.monitor.useIndexes(ns.text, idIndexes);
  return { cursor: Document.fromEntries([['firstBatch', BsonArray.of(found === undefined ? [] : [found])], ['id', 0n], ['ns', ns.text]]) };
}
