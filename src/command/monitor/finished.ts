// An operation that has ended, as those see it who add up, log and profile.

import { Document } from '../../bson/index.ts';
import type { OperationContext } from '../../session/index.ts';

/** An operation that has ended. */
export interface Finished {
  readonly operation: OperationContext;
  readonly command: { readonly name: string; readonly writes: boolean; readonly access: string };
  readonly reply: Document;
  readonly failed: boolean;
}

/** Bytes of a command shown whole. */
const SHOWN_BYTES_MAX = 10_000;

/** Commands whose bodies are never shown. */
const SECRETIVE: ReadonlySet<string> = new Set(['createUser', 'updateUser', 'saslStart', 'saslContinue', 'authenticate', 'hello', 'isMaster']);

/** A command as logs and lists show it. */
export function shownCommand({ body, command }: Pick<OperationContext, 'command' | 'body'>): Document {
  if (body === undefined || SECRETIVE.has(command)) return Document.fromEntries([[command, 1]]);
  if (body.byteLength <= SHOWN_BYTES_MAX) return body;
  return Document.of({ $truncated: `${command}, ${String(body.byteLength)} bytes` });
}

/** How long an operation has run so far, in milliseconds. */
export function runningMs(operation: OperationContext): number {
  return operation.clock.monotonicMs() - operation.startedMs;
}

/** How many documents a reply gives; undefined where it is none that gives documents. */
export function returnedBy(reply: Document): number | undefined {
  const cursor = reply.get('cursor');
  if (!(cursor instanceof Document)) return undefined;
  const batch = cursor.get('firstBatch') ?? cursor.get('nextBatch');
  return typeof batch === 'object' && batch !== null && 'items' in batch ? batch.items().length : undefined;
}

/** What the plans of an operation read, for logs and profiles; undefined where it ran none. */
export function planFigures({ runs }: OperationContext): { planSummary: string; keysExamined: number; docsExamined: number } | undefined {
  if (runs.length === 0) return undefined;
  let [keys, documents] = [0, 0];
  for (const run of runs) {
    const examined = run.examined();
    keys += examined.keys;
    documents += examined.documents;
  }
  return { planSummary: [...new Set(runs.map((run) => run.summary))].slice(0, 10).join(', '), keysExamined: keys, docsExamined: documents };
}

/** The first plan of an operation as profiles show it: its stages with their counts, and the hashes of its shape. */
export function planExecuted({ runs }: OperationContext): { queryHash: string; planCacheShapeHash: string; planCacheKey: string; hasSortStage: true | undefined; execStats: Document } | undefined {
  const run = runs.map((each) => each.executed?.()).find((executed) => executed !== undefined);
  if (run === undefined) return undefined;
  const { stages, sorts, shapeHash, keyHash } = run;
  return { queryHash: shapeHash, planCacheShapeHash: shapeHash, planCacheKey: keyHash, hasSortStage: sorts ? true : undefined, execStats: stages };
}

const OPERATION_NAMES: ReadonlyMap<string, string> = new Map([
  ['find', 'query'],
  ['getMore', 'getmore'],
  ['insert', 'insert'],
  ['update', 'update'],
  ['delete', 'remove'],
]);

/** What an operation is called in `op`. */
export function operationName(command: string): string {
  return OPERATION_NAMES.get(command) ?? 'command';
}
