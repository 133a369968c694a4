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
import { SizedEvents } from './large-event.ts';
import { resumable } from './resumable.ts';
import { StreamSource } from './stream-source.ts';
import { parseStream } from './stream-options.ts';

const STAGE = '$changeStream';
const SPLIT = '$changeStreamSplitLargeEvent';

/** Stages that there are in streams only. */
export const streamStageNames: readonly string[] = [STAGE, SPLIT];

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

/** The stages behind the first, and whether the one that splits large events stands last. */
function furtherStages(stages: readonly Value[]): { readonly further: readonly Value[]; readonly splits: boolean } {
  const last = stages.at(-1);
  const splits = nameOf(last) === SPLIT;
  const further = splits ? stages.slice(1, -1) : stages.slice(1);
  if (further.some((stage) => nameOf(stage) === SPLIT)) {
    throw new CommandError(7182802, 'Location7182802', `${SPLIT} must be the last stage in the pipeline`);
  }
  const said = splits && last instanceof Document ? last.first?.[1] : undefined;
  if (splits && !(said instanceof Document && said.isEmpty)) {
    throw new CommandError(7182800, 'Location7182800', `${SPLIT} spec should be an empty object`);
  }
  return { further, splits };
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
  const { further: behind, splits } = furtherStages(stages);
  const further = compilePipeline(BsonArray.of([...behind]), { ...queryOptions(context, letFields), database: ns.db });
  checkStages(behind);
  if (!free) await refuseView(context, ns);
  const stream = new StreamSource(context.server, options);
  const made = further.openUnmeasured(stream, {
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
  const sized = new SizedEvents({ source, stream, splits, from: options.from });
  return replyWithCursor(context, sized, { namespace: ns.text, batchSize, tail: sized });
}
