// What a stage that tells of the server is given, and where it may stand.

import { CommandError } from '../../../base/errors.ts';
import type { Document } from '../../../bson/index.ts';
import type { CatalogTransaction, Collection, Namespace, View } from '../../../catalog/index.ts';
import type { CommandContext } from '../../command.ts';

/** Where such a stage stands. */
export interface SystemStageInput {
  readonly context: CommandContext;
  readonly txn: CatalogTransaction;
  readonly database: string;
  /** Undefined for `aggregate: 1`. */
  readonly target: { readonly ns: Namespace; readonly entry: Collection | View | undefined } | undefined;
  readonly isNested: boolean;
  readonly specification: Document;
}

/** Makes the documents; throws for a specification or a place that is not allowed. */
export type SystemStage = (input: SystemStageInput) => readonly Document[] | Promise<readonly Document[]>;

/** The collection or view it stands on; 73 where it stands on none. */
export function targetOf(input: SystemStageInput, name: string): { ns: Namespace; entry: Collection | View | undefined } {
  if (input.target !== undefined) return input.target;
  throw new CommandError(73, 'InvalidNamespace', `${name} is only valid on a collection.`);
}

/** Refuses a stage on a collection that speaks of the whole server. */
export function refuseTarget(input: SystemStageInput, name: string): void {
  if (input.target === undefined) return;
  throw new CommandError(73, 'InvalidNamespace', `${name} must be run against the database with {aggregate: 1}, not a collection`);
}

/** The server's name in such documents. */
export function hostText({ server }: CommandContext): string {
  return `${server.env.host.hostname}:${String(server.options.port)}`;
}
