// What the planner is told and asked for each query of a client: index filters, and an account of what ran.

import type { QueryTarget } from '../plan/index.ts';
import type { CommandContext } from './command.ts';

/** For the target of a query on a collection. */
export function watched({ server, operation }: CommandContext, namespace: string): Pick<QueryTarget, 'indexFilters' | 'onRun'> {
  return {
    indexFilters: server.indexFilters.of(namespace),
    onRun: (run) => {
      operation.runs.push(run);
      server.monitor.useIndexes(namespace, run.indexes);
    },
  };
}
