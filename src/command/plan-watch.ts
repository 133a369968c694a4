// What the planner is told and asked for each query of a client: index filters, and an account of what ran.

import type { Document, Value } from '../bson/index.ts';
import type { IndexFilterLookup, PlanRun, PlanWatch } from '../plan/index.ts';
import type { CommandContext } from './command.ts';

class CommandWatch implements PlanWatch {
  readonly indexFilters: IndexFilterLookup | undefined;
  readonly settings: Document | undefined;
  readonly settledIndexes: readonly Value[] | undefined;
  readonly #context: CommandContext;
  readonly #namespace: string;

  constructor(context: CommandContext, namespace: string) {
    this.indexFilters = context.server.indexFilters.of(namespace);
    const { advice } = context.operation;
    this.settings = advice?.document;
    this.settledIndexes = advice?.indexesFor(namespace);
    this.#context = context;
    this.#namespace = namespace;
  }

  ran(run: PlanRun): void {
    const { operation, server } = this.#context;
    operation.runs.push(run);
    server.monitor.useIndexes(this.#namespace, run.indexes);
    if (run.hadChoice) server.monitor.plans.began(operation, run);
  }
}

/** For the target of a query on a collection. */
export function watched(context: CommandContext, namespace: string): PlanWatch {
  return new CommandWatch(context, namespace);
}
