// Where pipelines write. `$merge` is a series of statements that each change one document, as updates are, waiting for other writers and never
// failing for a conflict. `$out` fills a collection of another name, with the options and indexes of the one that is there, and renames it
// into place at the end, so that readers see the old one whole or the new one whole.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, describeValue, Document, equalValues, Regex, type Value } from '../../bson/index.ts';
import { namespaceOf, type Collection, type Namespace } from '../../catalog/index.ts';
import { sameCollation, type Collation } from '../../collation/index.ts';
import type { OutputRequest, OutputSink } from '../../exec/index.ts';
import { compileFilter, type QueryOptions } from '../../query/index.ts';
import type { CommandContext } from '../command.ts';
import { noteWrite } from '../note-write.ts';
import { WriteSeries, type WriteStep } from '../write-series.ts';
import type { DocumentChange } from './document-change.ts';
import { SingleWrite } from './single-write.ts';

type MergeRequest = Extract<OutputRequest, { kind: 'merge' }>;

/** What writing needs of the command. */
export interface OutputSurroundings {
  readonly context: CommandContext;
  readonly options: QueryOptions;
  readonly bypassValidation: boolean;
}

/** Opens what a pipeline's last stage writes to. */
export async function openOutput(request: OutputRequest, surroundings: OutputSurroundings): Promise<OutputSink> {
  const { context } = surroundings;
  if (context.transaction !== undefined) {
    const stage = request.kind === 'replace' ? '$out' : '$merge';
    throw new CommandError(263, 'OperationNotSupportedInTransaction', `${stage} cannot be used in a transaction`);
  }
  const ns = namespaceOf(request.database, request.collection);
  const existing = await existingCollection(context, ns, request.kind === 'replace' && request.timeSeries !== undefined);
  if (request.kind === 'replace') return ReplaceSink.open(ns, existing, { ...surroundings, timeSeries: request.timeSeries });
  if (existing?.options.timeSeries !== undefined) {
    throw new CommandError(166, 'CommandNotSupportedOnView', `Cannot run $merge into a time-series collection: ${ns.text}`);
  }
  const index = uniqueIndex(existing, request.on ?? ['_id'], surroundings.options.collation);
  if (index === undefined) throw new CommandError(51183, 'Location51183', 'Cannot find index to verify that join fields will be unique');
  return new MergeSink(ns, { request, sparse: index.sparse }, surroundings);
}

/** A series that notes why a step was refused. */
class DocumentWriter {
  readonly series: WriteSeries;
  #refusal: CommandError | undefined;

  constructor(context: CommandContext, ns: Namespace) {
    this.series = new WriteSeries(context, ns);
  }

  /** Notes a refusal: the first one stands. */
  refuse(error: CommandError): void {
    this.#refusal ??= error;
  }

  /** Throws what was refused, if anything was. */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
  }
}

async function existingCollection(context: CommandContext, ns: Namespace, mustBeTimeSeries: boolean): Promise<Collection | undefined> {
  const { catalog } = context.server;
  const txn = catalog.begin('read');
  try {
    const entry = await catalog.lookup(txn, ns);
    if (mustBeTimeSeries && entry !== undefined && (entry.kind === 'view' || entry.options.timeSeries === undefined)) {
      throw new CommandError(7268700, 'Location7268700', `Cannot create a time-series collection from a non time-series collection or view: ${ns.text}`);
    }
    return await catalog.collection(txn, ns);
  } finally {
    txn.abort();
  }
}

/** The unique index on exactly these fields; that of `_id` is there also before the collection is. */
function uniqueIndex(collection: Collection | undefined, on: readonly string[], collation: Collation | undefined): { readonly sparse: boolean } | undefined {
  if (on.length === 1 && on[0] === '_id' && (collection === undefined || sameCollation(collection.options.collation, collation))) return { sparse: false };
  const wanted = new Set(on);
  const fits = (paths: readonly string[]): boolean => paths.length === wanted.size && paths.every((path) => wanted.has(path));
  const fitting = collection?.indexes.filter((index) => index.unique && index.partialFilter === undefined && sameCollation(index.collation, collation) && fits(index.paths)) ?? [];
  return fitting.find((index) => !index.sparse) ?? fitting[0];
}

function valueAt(document: Document, path: string): Value {
  const value = path.split('.').reduce<Value | undefined>((at, name) => (at instanceof Document ? at.get(name) : undefined), document);
  return value ?? null;
}

function isPlain(value: Value): boolean {
  return !(value instanceof Document) && !(value instanceof BsonArray) && !(value instanceof Regex) && value !== null;
}

function conditionOf(document: Document, path: string): readonly [string, Value] {
  const value = valueAt(document, path);
  return [path, isPlain(value) ? value : Document.of({ $eq: value })];
}

/** `$merge`. */
class MergeSink implements OutputSink {
  readonly #request: MergeRequest;
  readonly #sparse: boolean;
  readonly #ns: Namespace;
  readonly #surroundings: OutputSurroundings;
  readonly #writer: DocumentWriter;

  constructor(ns: Namespace, { request, sparse }: { request: MergeRequest; sparse: boolean }, surroundings: OutputSurroundings) {
    this.#request = request;
    this.#ns = ns;
    this.#sparse = sparse;
    this.#surroundings = surroundings;
    this.#writer = new DocumentWriter(surroundings.context, ns);
  }

  async write(batch: readonly Document[]): Promise<void> {
    const { context } = this.#surroundings;
    for (const document of batch) {
      const step = new SingleWrite({
        context,
        series: this.#writer.series,
        change: this.#changeFor(this.#identified(document)),
        onResult: () => undefined,
        onError: (error) => {
          this.#writer.refuse(error);
          return true;
        },
        onUndo: () => undefined,
      });
      await this.#writer.series.add(step);
    }
    this.#writer.check();
  }

  async finish(): Promise<void> {
    await this.#writer.series.finish();
  }

  /** What was merged stays, as in MongoDB. */
  async abandon(): Promise<void> {
    await this.#writer.series.finish();
  }

  /** The document with an `_id`, where that is what it is known by. */
  #identified(document: Document): Document {
    const on = this.#request.on ?? ['_id'];
    if (document.has('_id') || !on.includes('_id')) return document;
    return Document.fromEntries([['_id', this.#surroundings.context.server.ids.next()], ...document.fields]);
  }

  #checkSparse(incoming: Document): void {
    const empty = this.#sparse ? this.#request.on?.find((path) => valueAt(incoming, path) === null) : undefined;
    if (empty === undefined) return;
    throw new CommandError(51132, 'Location51132', `$merge write error: 'on' field cannot be missing, null or undefined: '${empty}'`);
  }

  /** A document that is there and must not be is told as the index would tell it. */
  #combined(before: Document, incoming: Document): Document | undefined {
    try {
      return this.#request.combine(before, incoming);
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== 11000) throw error;
      const on = this.#request.on ?? ['_id'];
      const keyValue = Document.fromEntries(on.map((path) => [path, valueAt(incoming, path)]));
      const details = new Map<string, Value>([['keyPattern', Document.fromEntries(on.map((path) => [path, 1]))], ['keyValue', keyValue]]);
      throw new CommandError(11000, 'DuplicateKey', `E11000 duplicate key error collection: ${this.#ns.text} dup key: ${describeValue(keyValue)}`, { cause: error, details });
    }
  }

  #changeFor(incoming: Document): DocumentChange {
    const { combine, on } = this.#request;
    const { options, bypassValidation } = this.#surroundings;
    this.#checkSparse(incoming);
    const filterDocument = Document.fromEntries((on ?? ['_id']).map((path) => conditionOf(incoming, path)));
    return {
      filter: compileFilter(filterDocument, options),
      filterDocument,
      collation: options.collation,
      bypassValidation,
      apply: (before) => {
        const after = this.#combined(before, incoming);
        return { after: after ?? before, modified: after !== undefined };
      },
      upsert: () => combine(undefined, incoming),
    };
  }
}

/** The insertion of one document of `$out`. */
class FillStep implements WriteStep {
  readonly #writer: DocumentWriter;
  readonly #document: Document;
  readonly #bypassValidation: boolean;

  constructor(writer: DocumentWriter, document: Document, bypassValidation: boolean) {
    this.#writer = writer;
    this.#document = document;
    this.#bypassValidation = bypassValidation;
  }

  async run(txn: Parameters<WriteStep['run']>[0]): Promise<boolean> {
    const collection = await this.#writer.series.ensureCollection(txn);
    try {
      await collection.insert(txn, collection.prepare(this.#document), { bypassValidation: this.#bypassValidation });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#writer.refuse(error);
      return false;
    }
    this.#writer.series.weigh(this.#document.byteLength);
    return true;
  }

  undo(): void {
    // Nothing was noted.
  }
}

/** Refuses a time series in the place of one of other options. */
function checkSameSeries(existing: Collection | undefined, made: Collection): void {
  const [before, after] = [existing?.options.shown.get('timeseries'), made.options.shown.get('timeseries')];
  if (before === undefined || after === undefined || equalValues(before, after)) return;
  throw new CommandError(7406103, 'Location7406103', 'Time-series options inputted must match the existing time-series collection');
}

/** `$out`. */
class ReplaceSink implements OutputSink {
  readonly #target: Namespace;
  readonly #filled: Namespace;
  readonly #surroundings: OutputSurroundings;
  readonly #writer: DocumentWriter;

  private constructor(target: Namespace, filled: Namespace, surroundings: OutputSurroundings) {
    this.#target = target;
    this.#filled = filled;
    this.#surroundings = surroundings;
    this.#writer = new DocumentWriter(surroundings.context, filled);
  }

  static async open(target: Namespace, existing: Collection | undefined, surroundings: OutputSurroundings & { timeSeries: Document | undefined }): Promise<ReplaceSink> {
    if (existing?.options.capped !== undefined) {
      throw new CommandError(17152, 'Location17152', `namespace '${target.text}' is capped so it can't be used for $out`);
    }
    const { catalog, ids } = surroundings.context.server;
    const filled = namespaceOf(target.db, `tmp.agg_out.${ids.next().toHexString()}`);
    const { timeSeries } = surroundings;
    const asked = timeSeries === undefined ? Document.empty : Document.of({ timeseries: timeSeries });
    await catalog.run(async (txn) => {
      const made = await catalog.create(txn, filled, timeSeries === undefined ? (existing?.options.shown ?? asked) : asked);
      if (timeSeries !== undefined && made.kind === 'collection') checkSameSeries(existing, made);
    });
    const specs = (existing?.indexes ?? []).filter((index) => !index.isPrimary).map((index) => index.spec);
    if (specs.length > 0) await catalog.createIndexes(filled, specs);
    return new ReplaceSink(target, filled, surroundings);
  }

  async write(batch: readonly Document[]): Promise<void> {
    for (const document of batch) {
      await this.#writer.series.add(new FillStep(this.#writer, document, this.#surroundings.bypassValidation));
      this.#writer.check();
    }
  }

  async finish(): Promise<void> {
    const { server } = this.#surroundings.context;
    const { catalog } = server;
    await this.#writer.series.finish();
    await catalog.run((txn) => catalog.rename(txn, this.#filled, this.#target, { dropTarget: true, series: true }));
    noteWrite(server);
  }

  async abandon(): Promise<void> {
    const { catalog } = this.#surroundings.context.server;
    this.#writer.series.abandon();
    await catalog.run((txn) => catalog.drop(txn, this.#filled));
  }
}
