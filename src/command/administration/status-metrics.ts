// Sections of serverStatus that are put together from what the monitor and the catalog know.

import { Document, type Value } from '../../bson/index.ts';
import type { CommandContext } from '../command.ts';
import { reading } from '../storage-scope.ts';
import type { ServerState } from '../server-state.ts';

/** Times and numbers by kind of operation. */
export function operationLatencies({ monitor }: ServerState): Document {
  return Document.fromEntries(
    Object.entries(monitor.latencies).map(([kind, { time, count }]) => [kind, Document.of({ latency: BigInt(time), ops: BigInt(count), queryableEncryptionLatencyMicros: 0n })]),
  );
}

/** Commands that the settings of a query may refuse. */
const REJECTABLE: ReadonlySet<string> = new Set(['find', 'distinct', 'aggregate']);

/** How often each command was run, and how often it failed. */
export function commandCounts({ monitor }: ServerState): Document {
  const rows = [...monitor.commands].sort(([a], [b]) => (a < b ? -1 : 1));
  return Document.fromEntries(
    rows.map(([name, { total, failed, rejected }]): [string, Value] => [
      name,
      Document.of({ failed: BigInt(failed), rejected: REJECTABLE.has(name) ? BigInt(rejected) : undefined, total: BigInt(total) }),
    ]),
  );
}

/** Number of collections by kind, those of the server's own databases apart. */
export async function catalogStatistics(context: CommandContext): Promise<Document> {
  const counts = { collections: 0, capped: 0, clustered: 0, timeseries: 0, views: 0, internalCollections: 0, internalViews: 0 };
  await reading(context, async (txn) => {
    const { catalog } = context.server;
    for (const db of await catalog.databases(txn)) {
      const isOwn = db === 'admin' || db === 'config' || db === 'local';
      for (const entry of await catalog.collections(txn, db)) {
        if (entry.kind === 'view') counts[isOwn ? 'internalViews' : 'views'] += 1;
        else {
          counts[isOwn ? 'internalCollections' : 'collections'] += 1;
          if (entry.options.capped !== undefined) counts.capped += 1;
        }
      }
    }
  });
  return Document.of(counts);
}
