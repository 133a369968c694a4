// A compiled update: operators, a replacement, or a pipeline. Follows the manual's pages "Update Operators", "db.collection.update()" and
// "Updates with Aggregation Pipeline".

import { BsonArray, BsonWriter, describeField, describeValue, Document, elementEnd, equalValues, findElement, storedDepthMax, validateDocument } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf } from '../expression/define.ts';
import type { Filter, QueryOptions } from '../filter/filter.ts';
import { refuse } from '../refuse.ts';
import { ArrayFilters } from './array-filter.ts';
import { parseAddToSet, parsePop, parsePullAll, pullParser } from './array-operators.ts';
import { parseBit, parseCurrentDate, parseInc, parseMax, parseMin, parseMul, parseSet, parseSetOnInsert, parseUnset } from './field-operators.ts';
import { addOperation, fieldsNode, sortFields } from './node.ts';
import type { FieldsNode, UpdateNode } from './node.ts';
import type { OperationParser, OperationScope, UpdateContext, UpsertContext } from './operation.ts';
import { parseUpdatePath } from './path.ts';
import type { UpdatePath } from './path.ts';
import { compileUpdatePipeline } from './pipeline.ts';
import { parsePush } from './push.ts';
import type { RawValue } from './raw-value.ts';
import { parseRename } from './rename.ts';
import type { Renaming } from './rename.ts';
import { replaceDocument, validateId, validateReplacement } from './replacement.ts';
import { runUpdate } from './run.ts';
import { documentOfFilter } from './upsert.ts';

export interface UpdateOptions extends QueryOptions {
  readonly arrayFilters?: readonly Document[];
}

/** What an update made of a document. */
export interface UpdateResult {
  /** The new document, or the same one if nothing changed. */
  readonly doc: Document;
  readonly modified: boolean;
}

/** An update compiled once for a command. */
export interface Update {
  readonly kind: 'operators' | 'replacement' | 'pipeline';
  /** True if the positional operator needs the place of the filter's match. */
  readonly needsPosition: boolean;
  /** Throws CommandError where MongoDB refuses; the document is never changed in place. */
  apply(doc: Document, context: UpdateContext): UpdateResult;
  /** The document to insert when the filter matched none; it has an `_id`, in front. */
  forUpsert(filter: Filter, context: UpsertContext): Document;
}

/** What a BSON document may take in a collection; its own limit is 16 MiB. */
const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;

/** Compiles an update: a document of operators, a replacement, or an array of stages. */
export function compileUpdate(spec: Document | BsonArray, options: UpdateOptions): Update {
  const filters = ArrayFilters.parse(options.arrayFilters ?? [], options);
  if (spec instanceof BsonArray) {
    if ((options.arrayFilters?.length ?? 0) > 0) throw refuse(9, 'arrayFilters may not be specified for pipeline-syle updates');
    return wholeUpdate('pipeline', compileUpdatePipeline(spec, { ...options, lateErrors: true }));
  }
  if (spec.first?.[0].startsWith('$') === true) return operatorUpdate(spec, options, filters);
  if ((options.arrayFilters?.length ?? 0) > 0) throw refuse(9, 'arrayFilters may not be specified for replacement-style updates');
  validateReplacement(spec);
  checkDepth(spec);
  return wholeUpdate('replacement', () => spec);
}

function wholeUpdate(kind: 'replacement' | 'pipeline', make: (doc: Document) => Document): Update {
  const apply = (doc: Document, context: UpdateContext): Document => {
    const made = replaceDocument(doc, make(doc), context);
    return made === doc ? doc : checkSize(kind === 'pipeline' ? checkDepth(made) : made);
  };
  return {
    kind,
    needsPosition: false,
    apply: (doc, context) => {
      const made = apply(doc, context);
      return { doc: made, modified: made !== doc };
    },
    forUpsert: (filter, context) => withNewId(apply(documentOfFilter(filter.shape, kind === 'replacement'), context), context),
  };
}

function operatorUpdate(spec: Document, options: UpdateOptions, filters: ArrayFilters): Update {
  const { root, renamings, levels } = parseOperators(spec, options, filters);
  filters.refuseUnused(() => describeValue(spec));
  sortFields(root);
  const touchesId = root.children.has('_id');
  const apply = (doc: Document, context: UpdateContext, inserting: boolean): Document => {
    const scope = new DocumentScope(doc, context, inserting, renamings);
    const made = runUpdate(doc, root, scope, filters);
    if (made === doc) return doc;
    if (touchesId) checkId(doc, made);
    return checkSize(levels > SHALLOW_LEVELS ? checkDepth(made) : made);
  };
  return {
    kind: 'operators',
    needsPosition: holdsPositional(root),
    apply: (doc, context) => {
      const made = apply(doc, context, false);
      return { doc: made, modified: made !== doc };
    },
    forUpsert: (filter, context) => withNewId(apply(documentOfFilter(filter.shape, false), context, true), context),
  };
}

interface ParsedOperators {
  readonly root: FieldsNode;
  readonly renamings: readonly Renaming[];
  /** The most levels that a path and its value have together. */
  readonly levels: number;
}

const parsers: ReadonlyMap<string, OperationParser> = new Map([
  ['$set', parseSet],
  ['$setOnInsert', parseSetOnInsert],
  ['$unset', parseUnset],
  ['$inc', parseInc],
  ['$mul', parseMul],
  ['$min', parseMin],
  ['$max', parseMax],
  ['$bit', parseBit],
  ['$currentDate', parseCurrentDate],
  ['$push', parsePush],
  ['$addToSet', parseAddToSet],
  ['$pop', parsePop],
  ['$pullAll', parsePullAll],
]);

/** Every operator of an update, by name. */
export const updateOperators: readonly string[] = [...parsers.keys(), '$pull', '$rename'];

function parseOperators(spec: Document, options: UpdateOptions, filters: ArrayFilters): ParsedOperators {
  const root = fieldsNode();
  const renamings: Renaming[] = [];
  const pull = pullParser(options);
  let levels = 0;
  for (const [operator, fields] of spec.fields) {
    const parse = operator === '$pull' ? pull : parsers.get(operator);
    if (parse === undefined && operator !== '$rename') {
      throw refuse(
        9,
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
      );
    }
    if (!(fields instanceof Document)) {
      throw refuse(
        9,
        `Modifiers operate on fields but we found type ${nameOf(fields)} instead. For example: {$mod: {<field>: ...}} not {${describeField(operator, fields)}}`,
      );
    }
    for (const [path, operand] of fields.fields) {
      levels = Math.max(levels, path.split('.').length + depthOf(operand));
      if (parse === undefined) renamings.push(addRenaming(root, path, operand));
      else addParsed(root, filters, path, parse(operand, path, options.collation));
    }
  }
  return { root, renamings, levels };
}

function addParsed(root: FieldsNode, filters: ArrayFilters, path: string, operation: ReturnType<OperationParser>): void {
  const parsed = parseUpdatePath(path);
  filters.use(parsed);
  addOperation(root, parsed, operation);
}

function addRenaming(root: FieldsNode, path: string, operand: Value): Renaming {
  const renaming = parseRename(path, operand);
  addOperation(root, renaming.from, renaming.taking);
  addOperation(root, renaming.to, renaming.setting);
  return renaming;
}

function holdsPositional(node: UpdateNode): boolean {
  if (node.kind === 'leaf') return false;
  if (node.kind === 'fields' && node.positional !== undefined) return true;
  return [...node.children.values()].some(holdsPositional);
}

const nothingMoved: ReadonlyMap<string, RawValue> = new Map();

/** What the operations see of one document. */
class DocumentScope implements OperationScope {
  readonly context: UpdateContext;
  readonly inserting: boolean;
  readonly moved: ReadonlyMap<string, RawValue>;
  readonly #doc: Document;

  constructor(doc: Document, context: UpdateContext, inserting: boolean, renamings: readonly Renaming[]) {
    this.#doc = doc;
    this.context = context;
    this.inserting = inserting;
    this.moved = renamings.length === 0 ? nothingMoved : this.#readMoved(renamings);
  }

  get idText(): string {
    const id = this.#doc.get('_id');
    return id === undefined ? 'no id' : describeField('_id', id);
  }

  #readMoved(renamings: readonly Renaming[]): ReadonlyMap<string, RawValue> {
    const moved = new Map<string, RawValue>();
    for (const renaming of renamings) {
      const value = renaming.read(this.#doc, this.idText);
      if (value === undefined) continue;
      if (this.#doc.has('_id') && (isIdPath(renaming.from) || isIdPath(renaming.to))) refuseIdChange();
      moved.set(renaming.from.text, value);
    }
    return moved;
  }
}

function isIdPath(path: UpdatePath): boolean {
  const first = path.parts[0];
  return first?.kind === 'name' && first.name === '_id';
}

function refuseIdChange(): never {
  throw refuse(66, "Performing an update on the path '_id' would modify the immutable field '_id'");
}

/** Refuses a change of the `_id`; a document that had none may get one. */
function checkId(before: Document, after: Document): void {
  const oldId = before.get('_id');
  const newId = after.get('_id');
  if (oldId === undefined) {
    if (newId !== undefined) validateId(newId);
    return;
  }
  if (newId === undefined || !equalValues(oldId, newId)) refuseIdChange();
}

function checkSize(doc: Document): Document {
  if (doc.byteLength <= DOCUMENT_BYTES_MAX) return doc;
  throw refuse(17419, `Resulting document after update is larger than ${String(DOCUMENT_BYTES_MAX)}`);
}

/** Refuses a document nested more deeply than one may be stored. */
function checkDepth(doc: Document): Document {
  validateDocument(doc.bytes, doc.start, doc.end, { depth: storedDepthMax });
  return doc;
}

/** Levels of documents and arrays in a value. */
function depthOf(value: Value): number {
  if (value instanceof Document) return 1 + value.fields.reduce((most, [, inner]) => Math.max(most, depthOf(inner)), 0);
  if (value instanceof BsonArray) return 1 + value.items().reduce<number>((most, inner) => Math.max(most, depthOf(inner)), 0);
  return 0;
}

/** Paths and values of an update with fewer levels than this make no document too deep. */
const SHALLOW_LEVELS = storedDepthMax / 2;

/** The document with its `_id` in front; a new one if it has none. */
function withNewId(doc: Document, context: UpsertContext): Document {
  const { bytes, start, end } = doc;
  const idAt = findElement(bytes, start, '_id');
  if (idAt === start + 4) return doc;
  const writer = new BsonWriter(doc.byteLength + 32);
  if (idAt < 0) {
    writer.writeElement('_id', context.newId()).copyElements(bytes, start + 4, end - 1);
  } else {
    const idEnd = elementEnd(bytes, idAt);
    writer.copyElements(bytes, idAt, idEnd).copyElements(bytes, start + 4, idAt).copyElements(bytes, idEnd, end - 1);
  }
  return writer.finishDocument();
}
