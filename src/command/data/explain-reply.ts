// What every explain tells besides the plan: the command that was explained, and where.

import { Document, type Value } from '../../bson/index.ts';
import type { CommandContext } from '../command.ts';
import { MONGODB_VERSION } from '../product-version.ts';

/** Limits that MongoDB tells of in its explains, as they are here. */
const PARAMETERS: Document = Document.of({
  internalQueryFacetBufferSizeBytes: 104_857_600,
  internalQueryFacetMaxOutputDocSizeBytes: 104_857_600,
  internalLookupStageIntermediateDocumentMaxSizeBytes: 104_857_600,
  internalDocumentSourceGroupMaxMemoryBytes: 104_857_600,
  internalQueryMaxBlockingSortMemoryUsageBytes: 104_857_600,
  internalQueryProhibitBlockingMergeOnMongoS: 0,
  internalQueryMaxAddToSetBytes: 104_857_600,
  internalDocumentSourceSetWindowFieldsMaxMemoryBytes: 104_857_600,
  internalQueryFrameworkControl: 'forceClassicEngine',
  internalQueryPlannerIgnoreIndexWithCollationForRegex: 1,
});

/** The reply with the name of the query's shape, where it has one. */
export function withShapeHash(reply: Document, hash: string | undefined): Document {
  if (hash === undefined) return reply;
  const [first, ...rest] = reply.fields;
  return Document.fromEntries([...(first === undefined ? [] : [first]), ['queryShapeHash', hash], ...rest]);
}

/** `command`, `serverInfo` and `serverParameters`. */
export function serverInfo(context: CommandContext): [string, Value][] {
  const { host } = context.server.env;
  const body = context.request.body;
  const explained = body.first?.[0] === 'explain' ? body.first[1] : body;
  const fields: [string, Value][] = [];
  if (explained instanceof Document) {
    const kept = explained.fields.filter(([name]) => name !== 'lsid' && name !== '$clusterTime' && name !== '$db');
    fields.push(['command', Document.fromEntries([...kept, ['$db', context.db]])]);
  }
  fields.push(['serverInfo', Document.of({ host: host.hostname, port: context.server.options.port, version: MONGODB_VERSION, gitVersion: 'none' })]);
  fields.push(['serverParameters', PARAMETERS]);
  return fields;
}
