// Settings at work: a query that begins looks its own up, is refused where they say so, and is planned by them otherwise. An explain is
// planned by them and never refused.

import { CommandError } from '../../base/errors.ts';
import type { Document } from '../../bson/index.ts';
import type { CommandContext } from '../command.ts';
import { queryShapeOf, shapeCollection, shapedCommand } from './query-shape.ts';
import type { QuerySettings } from './settings.ts';

/** Looks up the settings of a query's body; its plans follow them from here on. */
function advise(context: CommandContext, body: Document): QuerySettings | undefined {
  const { querySettings } = context.server;
  if (!querySettings.any) return undefined;
  const command = shapedCommand(body);
  if (command === undefined || !querySettings.mayApply(command, context.db, shapeCollection(body.first?.[1] ?? null))) return undefined;
  const found = querySettings.get(queryShapeOf(command, context.db, body).hash);
  context.operation.advice = found?.settings;
  return found?.settings;
}

/** For a query that is run: 411 where queries of its shape are refused. */
export function applySettings(context: CommandContext): void {
  if (advise(context, context.request.body)?.reject !== true) return;
  throw new CommandError(411, 'QueryRejectedBySettings', 'Query rejected by admin query settings');
}

/** For a query that is explained: the name of its shape, and its plans follow its settings. */
export function explainSettings(context: CommandContext, body: Document): string | undefined {
  const command = shapedCommand(body);
  if (command === undefined) return undefined;
  advise(context, body);
  return queryShapeOf(command, context.db, body).hash;
}
