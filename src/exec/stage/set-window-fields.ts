// `$setWindowFields`: fields that tell of a document's neighbours. Documents are sorted by partition and within it, all in memory: beyond
// 100 MB the stage ends with QueryExceededMemoryLimitNoDiskUseAllowed. Follows the manual's page "$setWindowFields (aggregation)".

import { compareBytes, concatBytes } from '../../base/bytes.ts';
import { BsonArray, collated, Document, encodeKey, getField } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileAddFields, compileSort, createCompiler, nameOf, refuse, Variable } from '../../query/index.ts';
import type { Compiler, Expression, Projection, SortKey } from '../../query/index.ts';
import type { BatchSource, OperationContext } from '../../session/index.ts';
import { BATCH_DOCUMENTS_MAX, drain, streamed } from '../batches.ts';
import { RunSorter } from '../run-sorter.ts';
import type { Entry } from '../run-sorter.ts';
import type { PipelineOptions, StageRule } from '../stage.ts';
import type { Partition, WindowFunction } from '../window/frame.ts';
import { compileWindowFunction } from '../window/window-function.ts';

interface WindowFields {
  readonly partitionBy: Expression | undefined;
  readonly sort: SortKey;
  readonly functions: readonly { readonly evaluate: WindowFunction; readonly result: Variable }[];
  /** Puts the results of the functions into a document. */
  readonly output: Projection;
  readonly compiler: Compiler;
}

function fieldsOf(specification: Value): { output: Document; sortBy: Document | undefined; partitionBy: Value | undefined } {
  if (!(specification instanceof Document)) {
    throw refuse(9, `the $setWindowFields stage specification must be an object, found ${nameOf(specification)}`);
  }
  const documentAt = (name: string): Document | undefined => {
    const value = specification.get(name) ?? null;
    if (value === null) return undefined;
    if (value instanceof Document) return value;
    throw refuse(14, `BSON field '$setWindowFields.${name}' is the wrong type '${nameOf(value)}', expected type 'object'`);
  };
  const unknown = specification.keys().find((name) => name !== 'partitionBy' && name !== 'sortBy' && name !== 'output');
  if (unknown !== undefined) throw refuse(40415, `BSON field '$setWindowFields.${unknown}' is an unknown field.`);
  const output = documentAt('output');
  if (output === undefined) throw refuse(40414, `BSON field '$setWindowFields.output' is missing but a required field`);
  return { output, sortBy: documentAt('sortBy'), partitionBy: specification.get('partitionBy') };
}

function parseWindowFields(specification: Value, options: PipelineOptions): WindowFields {
  const { output, partitionBy, sortBy } = fieldsOf(specification);
  const compiler = createCompiler(options);
  const results = output.keys().map((name, index) => ({ name, variable: `w${index}`, result: new Variable(undefined, false) }));
  return {
    partitionBy: partitionBy === undefined ? undefined : compiler.compile(partitionBy),
    sort: compileSort(sortBy ?? Document.empty, options.collation),
    functions: output.fields.map(([name, value], index) => ({
      evaluate: compileWindowFunction(name, value, compiler, { sortBy }),
      result: results[index]?.result ?? new Variable(undefined, false),
    })),
    output: compileAddFields(Document.fromEntries(results.map(({ name, variable }) => [name, `$$${variable}`])), {
      ...options,
      variables: new Map(results.map(({ variable, result }) => [variable, result])),
    }),
    compiler,
  };
}

function partitionKey({ partitionBy, compiler }: WindowFields, document: Document): Uint8Array {
  if (partitionBy === undefined) return new Uint8Array(0);
  const value = partitionBy.evaluate(document) ?? null;
  if (value instanceof BsonArray) throw refuse(14, 'An expression used to partition cannot evaluate to value of type array');
  return encodeKey([collated(value, compiler.options.collation)]);
}

interface PlacedEntry extends Entry {
  /** How many bytes of the key say the partition. */
  readonly partitionBytes: number;
}

function placed(fields: WindowFields, document: Document, order: number): PlacedEntry {
  const partition = partitionKey(fields, document);
  const key = concatBytes([partition, fields.sort.keyOf(document)]);
  return { key, document, order, partitionBytes: partition.length };
}

function samePartition(left: PlacedEntry, right: PlacedEntry): boolean {
  const cut = ({ key, partitionBytes }: PlacedEntry): Uint8Array => key.subarray(0, partitionBytes);
  return compareBytes(cut(left), cut(right)) === 0;
}

function partitionOf(entries: readonly PlacedEntry[], sort: SortKey): Partition {
  const [part] = sort.parts;
  const documents = entries.map(({ document }) => document);
  return {
    documents,
    tiesWithLast: (index) => {
      const [last, entry] = entries.slice(index - 1, index + 1);
      return last !== undefined && entry !== undefined && compareBytes(last.key, entry.key) === 0;
    },
    sortValue: (index) => {
      const document = documents[index];
      return document === undefined || part === undefined ? undefined : getField(document, part.path);
    },
  };
}

/** The results, made a little at a time. */
async function* windowed(source: BatchSource, fields: WindowFields, operation: () => OperationContext): AsyncGenerator<readonly Document[], void> {
  const sorter = new RunSorter<PlacedEntry>('$setWindowFields');
  let order = 0;
  await drain(source, operation(), (batch) => {
    for (const document of batch) sorter.add(placed(fields, document, order++));
  });
  source.close();
  let open: PlacedEntry[] = [];
  for (const entry of sorter.results(Infinity)) {
    const [first] = open;
    if (first !== undefined && !samePartition(first, entry)) {
      yield* resultsOf(open, fields, operation);
      open = [];
    }
    open.push(entry);
    if (open.length % BATCH_DOCUMENTS_MAX === 0) await operation().turn();
  }
  if (open.length > 0) yield* resultsOf(open, fields, operation);
}

/** The documents of one partition with their results. */
async function* resultsOf(entries: readonly PlacedEntry[], fields: WindowFields, operation: () => OperationContext): AsyncGenerator<readonly Document[], void> {
  const { functions, output, sort } = fields;
  const partition = partitionOf(entries, sort);
  const running = functions.map(({ evaluate, result }) => ({ values: evaluate(partition), result }));
  let batch: Document[] = [];
  for (const document of partition.documents) {
    for (const { values, result } of running) {
      let step = values.next();
      for (; step.done !== true && step.value === undefined; step = values.next()) await operation().turn();
      result.value = step.done === true ? null : step.value;
    }
    batch.push(output.apply(document));
    if (batch.length < BATCH_DOCUMENTS_MAX) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** How `$setWindowFields` is compiled. */
export const setWindowFieldsRule: StageRule = {
  name: '$setWindowFields',
  parse: (specification, { options }) => {
    const fields = parseWindowFields(specification, options);
    return {
      name: '$setWindowFields',
      specification,
      open: (source) => streamed(source, (operation) => windowed(source, fields, operation)),
      needs: (dependencies) => {
        dependencies.addAll(fields.compiler.dependencies);
        for (const { path } of fields.sort.parts) dependencies.addPath(path.text);
        return 'some';
      },
    };
  },
};
