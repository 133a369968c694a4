// Opens a change stream: the stage `$changeStream` and the stages that may stand behind it, as a cursor that waits for more.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { Namespace } from '../../catalog/index.ts';
import { compilePipeline } from '../../exec/index.ts';
import type { BatchSource } from '../../session/index.ts';
import type { CommandContext, Reply } from '../command.ts';
import { replyWithCursor } from '../cursor-reply.ts';
import { queryOptions } from '../query-options.ts';
import { reading } from '../storage-scope.ts';
import { resumable } from './resumable.ts';
import { StreamSource } from './stream-source.ts';
import { parseStream } from './stream-options.ts';

const STAGE = '$changeStream';
const SPLIT = '$changeStreamSplitLargeEvent';

/** Stages that make one event of one, or leave it out. */
const ALLOWED: ReadonlySet<string> = new Set(['$addFields', '$match', '$project', '$redact', '$replaceRoot', '$replaceWith', '$set', '$unset']);

/** What of an aggregate a stream is opened by. */
export interface StreamRequest {
  readonly ns: Namespace;
  readonly free: boolean;
  readonly pipeline: BsonArray;
  readonly letFields: Document | undefined;
  readonly batchSize: number | undefined;
}

const nameOf = (stage: Value | undefined): string => (stage instanceof Document ? (stage.first?.[0] ?? '') : '');

/** Whether a pipeline opens a change stream; one that has the stage elsewhere is refused. */
export function isStream(pipeline: BsonArray): boolean {
  const stages = pipeline.items();
  if (stages.slice(1).some((stage) => nameOf(stage) === STAGE)) {
    throw new CommandError(40602, 'Location40602', `${STAGE} is only valid as the first stage in a pipeline`);
  }
  return nameOf(stages[0]) === STAGE;
}

/** The stages behind the first; those that are not allowed are refused. An event that is too large to be sent is not split. */
function furtherStages(stages: readonly Value[]): readonly Value[] {
  const further = nameOf(stages.at(-1)) === SPLIT ? stages.slice(1, -1) : stages.slice(1);
  if (further.some((stage) => nameOf(stage) === SPLIT)) {
    throw new CommandError(7182802, 'Location7182802', `${SPLIT} must be the last stage in the pipeline`);
  }
  return further;
}

/** Of stages that there are, which may stand in a stream. */
function checkStages(stages: readonly Value[]): void {
  const barred = stages.map(nameOf).find((name) => !ALLOWED.has(name));
  if (barred !== undefined) throw new CommandError(20, 'IllegalOperation', `${barred} is not permitted in a ${STAGE} pipeline`);
}

async function refuseView(context: CommandContext, ns: Namespace): Promise<void> {
  const named = await reading(context, async (txn) => context.server.catalog.lookup(txn, ns));
  if (named?.kind !== 'view') return;
  throw new CommandError(166, 'CommandNotSupportedOnView', `${STAGE} is not supported on views: ${ns.text}`);
}

/** The reply with the cursor of a stream. Errors say whether a stream could be opened anew. */
export async function openStream(context: CommandContext, request: StreamRequest): Promise<Reply> {
  try {
    return await open(context, request);
  } catch (error) {
    throw resumable(error);
  }
}

async function open(context: CommandContext, { ns, free, pipeline, letFields, batchSize }: StreamRequest): Promise<Reply> {
  const stages = pipeline.items();
  const [first] = stages;
  const specification = first instanceof Document ? (first.first?.[1] ?? null) : null;
  const options = parseStream(context, specification, { ns, free });
  const behind = furtherStages(stages);
  const further = compilePipeline(BsonArray.of([...behind]), { ...queryOptions(context, letFields), database: ns.db });
  checkStages(behind);
  if (!free) await refuseView(context, ns);
  const stream = new StreamSource(context.server, options);
  const made = further.open(stream, {
    collection: () => Promise.reject(new CommandError(20, 'IllegalOperation', `${STAGE} reads no other collection`)),
  });
  const source: BatchSource = {
    next: async (operation) => {
      const batch = await made.next(operation);
      for (const event of batch ?? []) stream.check(event);
      return batch;
    },
    close: () => {
      made.close();
    },
  };
  return replyWithCursor(context, source, { namespace: ns.text, batchSize, tail: stream });
}
