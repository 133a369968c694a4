// The last step of a plan: from rows to the documents that the client gets. A covered query makes them from index entries; where an entry says
// null, the document is asked whether the field is there at all, for the index cannot tell.

import { crc32c } from '../base/crc32c.ts';
import { must } from '../base/assert.ts';
import { CommandError, EngineError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import type { Collection } from '../catalog/index.ts';
import { noteMetadata } from '../query/index.ts';
import type { Projection } from '../query/index.ts';
import type { BatchSource, OperationContext } from '../session/index.ts';
import type { EntryReader } from './entry-reader.ts';
import type { Counters, Execution, Interruptible, Row, RowSource } from './row.ts';
import { inSlices } from '../env/index.ts';

/** What is made of rows. */
export interface OutputParts {
  readonly collection: Collection | undefined;
  readonly projection: Projection | undefined;
  /** For covered plans: reads the entries; `paths` are those that the result depends on. */
  readonly covered: { readonly reader: EntryReader; readonly paths: readonly string[]; readonly indexed: readonly string[] } | undefined;
  /** The keys alone; without an index there are none. */
  readonly returnKey: EntryReader | 'none' | undefined;
  /** Documents carry their keys beside their fields. */
  readonly carriesKey: EntryReader | undefined;
  readonly showRecordId: boolean;
}

/** What making documents of rows goes on in. */
export interface OutputRun {
  readonly execution: Execution;
  readonly counters: Counters;
  readonly context: Interruptible;
}

/** Makes documents of rows. */
export class Output {
  readonly parts: OutputParts;

  constructor(parts: OutputParts) {
    this.parts = parts;
  }

  /** MongoDB's name of the projection stage; undefined where there is none. */
  get stageName(): string | undefined {
    const { projection, covered, returnKey } = this.parts;
    if (returnKey !== undefined) return 'RETURN_KEY';
    if (covered !== undefined) return 'PROJECTION_COVERED';
    if (projection === undefined || projection.kind === 'all') return undefined;
    return projection.kind === 'inclusion' && projection.fieldsNeeded?.some((path) => path.includes('.')) === false ? 'PROJECTION_SIMPLE' : 'PROJECTION_DEFAULT';
  }

  async documentsOf(rows: readonly Row[], run: OutputRun): Promise<readonly Document[]> {
    const documents: Document[] = [];
    for (const row of rows) {
      const made = this.#documentOf(row, run);
      documents.push(made instanceof Promise ? await made : made);
    }
    return documents;
  }

  #documentOf(row: Row, { execution, counters, context }: OutputRun): Document | Promise<Document> {
    const { covered, returnKey, projection } = this.parts;
    if (returnKey !== undefined) return keyDocument(row, returnKey);
    if (covered === undefined || row.entry === undefined) {
      const document = row.document ?? Document.empty;
      return projection === undefined ? this.#project(row, document) : inSlices(context, () => this.#project(row, document));
    }
    const values = covered.reader.valuesOf(row.entry);
    const doubtful = covered.paths.some((path) => values[covered.indexed.indexOf(path)] === null);
    if (doubtful) return this.#fetched(row, execution, counters);
    return this.#project(row, covered.reader.documentOfValues(values));
  }

  async #fetched(row: Row, execution: Execution, counters: Counters): Promise<Document> {
    counters.docsExamined += 1;
    const document = await must(this.parts.collection, 'rows come from a collection').get(execution.txn, row.key);
    return this.#project(row, document ?? Document.empty);
  }

  #project(row: Row, document: Document): Document {
    const { projection, showRecordId } = this.parts;
    const { carriesKey } = this.parts;
    if (carriesKey !== undefined && row.entry !== undefined) noteMetadata(document, { indexKey: keyDocument(row, carriesKey) });
    const projected = projection === undefined ? document : projection.apply(document);
    return showRecordId ? Document.fromEntries([...projected.fields, ['$recordId', recordNumber(row.key)]]) : projected;
  }
}

/** A number that stands for a record: that of a capped collection, else a hash of its key. For people only: nothing finds a record by it. */
function recordNumber(key: Uint8Array): bigint {
  const high = crc32c(key, 0, key.length) & 0x7fffffff;
  const low = crc32c(key, 0, key.length, high);
  return key.length === 8 && key[0] === 0 ? readBig(key) : (BigInt(high) << 32n) | BigInt(low >>> 0);
}

function readBig(key: Uint8Array): bigint {
  return key.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function keyDocument(row: Row, reader: EntryReader | 'none'): Document {
  if (row.entry === undefined || reader === 'none') return Document.empty;
  return Document.fromEntries(reader.namedValuesOf(row.entry));
}

/** The collection or an index went while the source had no snapshot. */
function killed(cause: EngineError): CommandError {
  return new CommandError(175, 'QueryPlanKilled', 'query plan killed :: caused by :: collection or index dropped', { cause });
}

/** Rows to documents as a source of batches. */
export class OutputSource implements BatchSource {
  readonly #rows: RowSource;
  readonly #output: Output;
  readonly #execution: Execution;
  readonly #counters: Counters;

   
  constructor(rows: RowSource, output: Output, execution: Execution, counters: Counters) {
    this.#rows = rows;
    this.#output = output;
    this.#execution = execution;
    this.#counters = counters;
  }

  async next(context: OperationContext): Promise<readonly Document[] | undefined> {
    try {
      const rows = await this.#rows.next(context);
      if (rows === undefined) return undefined;
      return await this.#output.documentsOf(rows, { execution: this.#execution, counters: this.#counters, context });
    } catch (error) {
      throw error instanceof EngineError && error.code === 'unknown-dictionary' ? killed(error) : error;
    }
  }

  /** Between batches: gives the snapshot up; the next batch goes on from the last keys in a new one. */
  release(): void {
    this.#execution.release();
  }

  close(): void {
    this.#rows.close();
    this.#execution.close();
  }
}

