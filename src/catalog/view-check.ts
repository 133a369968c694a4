// What a view may stand on: other views, but neither itself, by whatever way, nor too many.

import { CommandError } from '../base/errors.ts';
import type { Document } from '../bson/index.ts';
import type { Soon } from '../engine/index.ts';
import type { Namespace } from './namespace.ts';
import { namespaceOf } from './namespace.ts';
import type { Named } from './name-table.ts';
import type { StoredTransaction } from './transaction.ts';
import { namesReadBy } from './view-names.ts';

const viewDepthMax = 20;

/** Who knows what names stand for. */
export interface KnownNames {
  lookup(txn: StoredTransaction, ns: Namespace): Soon<Named | undefined>;
}

/** Refuses options of a view that stands on itself or reads itself (5), or stands on too many others (165). Options of a collection are fine. */
export async function checkView(txn: StoredTransaction, known: KnownNames, ns: Namespace, options: Document): Promise<void> {
  let below = options.get('viewOn');
  for (let depth = 1; typeof below === 'string'; depth++) {
    if (below === ns.collection) throw new CommandError(5, 'GraphContainsCycle', `View cycle detected: ${ns.text} stands on itself`);
    if (depth > viewDepthMax) {
      throw new CommandError(165, 'ViewDepthLimitExceeded', `View depth limit exceeded; maximum depth is ${viewDepthMax}`);
    }
    const named = await known.lookup(txn, namespaceOf(ns.db, below));
    below = named?.kind === 'view' ? named.viewOn : undefined;
  }
  await checkCycle(txn, known, ns, options);
}

/** Refuses a view whose pipeline reads it, by itself or through other views (5). */
async function checkCycle(txn: StoredTransaction, known: KnownNames, ns: Namespace, options: Document): Promise<void> {
  const seen = new Set<string>();
  const left = [...namesReadBy(options)];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === ns.collection) throw new CommandError(5, 'GraphContainsCycle', `View cycle detected: ${ns.text} reads itself`);
    if (name === '' || seen.has(name)) continue;
    seen.add(name);
    const named = await known.lookup(txn, namespaceOf(ns.db, name));
    if (named?.kind === 'view') left.push(...namesReadBy(named.entry.options));
  }
}
