// `$merge`: what a pipeline gives goes into a collection, document by document, beside, over or into those that are there.
// Follows the manual's page "$merge (aggregation)".

import { BsonArray, Document, equalValues, Timestamp } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileUpdate, createCompiler, nameOf, refuse, splitPath, validateVariableName, Variable } from '../../query/index.ts';
import type { Expression, Update, UpdateContext } from '../../query/index.ts';
import { written } from '../output.ts';
import type { Combine, StageContext, StageRule } from '../stage.ts';
import { checkTarget, missingField, targetFields } from './output-target.ts';
import type { OutputTarget } from './output-target.ts';

const FIELDS: ReadonlySet<string> = new Set(['into', 'on', 'let', 'whenMatched', 'whenNotMatched']);
const WHEN_MATCHED: ReadonlySet<string> = new Set(['replace', 'keepExisting', 'merge', 'fail']);
const WHEN_NOT_MATCHED: ReadonlySet<string> = new Set(['insert', 'discard', 'fail']);

function intoOf(value: Value | undefined, context: StageContext): OutputTarget {
  const { database } = context.options;
  if (value === undefined) throw missingField('$merge.into');
  if (typeof value === 'string') {
    if (value === '') throw refuse(5786800, '$merge into must not be an empty string');
    return { database, collection: value };
  }
  if (!(value instanceof Document)) throw refuse(51178, `$merge 'into' field must be either a string or an object, but found ${nameOf(value)}`);
  const { db, coll } = targetFields(value, '$merge.into');
  if (coll === undefined) throw refuse(5786801, `$merge 'into' must have a 'coll'`);
  return { database: db === undefined || db === '' ? database : db, collection: coll };
}

function onOf(value: Value | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return [splitPath(value).join('.')];
  if (!(value instanceof BsonArray)) throw refuse(51186, `$merge 'on' field must be either a string or an array of strings, but found ${nameOf(value)}`);
  if (value.isEmpty) throw refuse(51187, `If explicitly specifying $merge 'on', must include at least one field`);
  const fields = value.items().map((item) => {
    if (typeof item !== 'string') throw refuse(51134, `$merge 'on' array elements must be strings, but found ${nameOf(item)}`);
    return splitPath(item).join('.');
  });
  if (new Set(fields).size < fields.length) throw refuse(31465, `Found a duplicate field in the $merge 'on' list`);
  return fields;
}

function modeOf(value: Value | undefined, modes: ReadonlySet<string>, field: string): string | undefined {
  if (value === undefined || (value === null && field !== 'whenMatched')) return undefined;
  if (typeof value !== 'string') throw refuse(field === 'whenMatched' ? 51191 : 14, `$merge '${field}' field must be a string, but found ${nameOf(value)}`);
  if (!modes.has(value)) throw refuse(2, `Enumeration value '${value}' for field '$merge.${field}' is not a valid value.`);
  return value;
}

function sameId(existing: Document, incoming: Document): void {
  const before = existing.get('_id');
  const after = incoming.get('_id');
  if (before === undefined || after === undefined || equalValues(before, after)) return;
  throw refuse(66, `$merge failed to update the matching document, did you attempt to modify the _id or the shard key?`);
}

/** Fields as an update sets new ones: in the order of their names, numbers by value, `_id` first. */
function inNameOrder(document: Document): Document {
  const compare = ([left]: readonly [string, Value], [right]: readonly [string, Value]): number => {
    if (left === '_id' || right === '_id') return Number(right === '_id') - Number(left === '_id');
    if (/^\d+$/.test(left) && /^\d+$/.test(right)) return Number(left) - Number(right);
    return left < right ? -1 : 1;
  };
  return Document.fromEntries(document.fields.toSorted(compare));
}

function overlaid(existing: Document, incoming: Document): Document {
  sameId(existing, incoming);
  const fields = new Map(existing.fields);
  for (const [name, value] of inNameOrder(incoming).fields) if (name !== '_id') fields.set(name, value);
  return Document.fromEntries([...fields]);
}

function replaced(existing: Document, incoming: Document): Document {
  sameId(existing, incoming);
  return withId(incoming, existing.get('_id'));
}

function withId(document: Document, id: Value | undefined): Document {
  if (id === undefined || document.first?.[0] === '_id') return document;
  return Document.fromEntries([['_id', id], ...document.fields.filter(([name]) => name !== '_id')]);
}

function duplicate(): never {
  throw refuse(11000, '$merge could not find a free place for the document: one with the same fields is there');
}

const matched: ReadonlyMap<string, (existing: Document, incoming: Document) => Document | undefined> = new Map<
  string,
  (existing: Document, incoming: Document) => Document | undefined
>([
  ['replace', replaced],
  ['merge', overlaid],
  ['keepExisting', () => undefined],
  ['fail', duplicate],
]);

/** A pipeline of `whenMatched`: it sees the existing document, and the new one as `$$new`. */
class MatchedPipeline {
  readonly #update: Update;
  readonly #context: UpdateContext;
  readonly #bindings: readonly { readonly variable: Variable; readonly expression: Expression }[];

  constructor(pipeline: BsonArray, bound: Document | undefined, context: StageContext) {
    const { options } = context;
    const compiler = createCompiler(options);
    const wrong = pipeline.items().find((stage) => !(stage instanceof Document));
    if (wrong !== undefined) throw refuse(14, `Each element of the 'whenMatched' pipeline must be an object, found ${nameOf(wrong)}`);
    const names = bound ?? Document.of({ new: '$$ROOT' });
    const bindings = names.fields.map(([name, value]) => {
      validateVariableName(name, 'write');
      return { name, variable: new Variable(undefined, false), expression: compiler.compile(value) };
    });
    const all = bound === undefined || bound.has('new') ? bindings : [...bindings, newBinding(compiler.compile('$$ROOT'))];
    const variables = new Map([...(options.variables ?? []), ...all.map(({ name, variable }) => [name, variable] as const)]);
    this.#bindings = all;
    this.#context = { now: options.now, timestamp: options.clusterTime ?? new Timestamp(0, 0) };
    this.#update = compileUpdate(pipeline, { ...options, variables });
  }

  apply(existing: Document, incoming: Document): Document {
    const values = this.#bindings.map(({ expression }) => expression.evaluate(incoming));
    this.#bindings.forEach(({ variable }, index) => (variable.value = values[index]));
    return this.#update.apply(existing, this.#context).doc;
  }
}

function newBinding(expression: Expression): { name: string; variable: Variable; expression: Expression } {
  return { name: 'new', variable: new Variable(undefined, false), expression };
}

function boundOf(value: Value | undefined): Document | undefined {
  if (value === undefined || value === null) return undefined;
  if (!(value instanceof Document)) throw refuse(14, `BSON field '$merge.let' is the wrong type '${nameOf(value)}', expected type 'object'`);
  const own = value.get('new');
  if (own !== undefined && own !== '$$ROOT') throw refuse(51273, `'let' may not define a value for the reserved 'new' variable other than '$$ROOT'`);
  return value;
}

function combineOf(specification: Document, context: StageContext): Combine {
  const whenMatched = specification.get('whenMatched');
  const bound = boundOf(specification.get('let'));
  const otherwise = modeOf(specification.get('whenNotMatched'), WHEN_NOT_MATCHED, 'whenNotMatched') ?? 'insert';
  const update = whenMatched instanceof BsonArray ? new MatchedPipeline(whenMatched, bound, context) : undefined;
  const mode = update === undefined ? (modeOf(whenMatched, WHEN_MATCHED, 'whenMatched') ?? 'merge') : 'pipeline';
  if (bound !== undefined && update === undefined) {
    throw refuse(51199, `Cannot use 'let' variables with 'whenMatched: ${mode}' mode`);
  }
  if ((mode === 'keepExisting' && otherwise !== 'insert') || (mode === 'fail' && otherwise !== 'insert')) {
    throw refuse(51181, `Combination of $merge modes 'whenMatched: ${mode}' and 'whenNotMatched: ${otherwise}' is not supported`);
  }
  return (existing, incoming) => {
    if (existing !== undefined) return update?.apply(existing, incoming) ?? matched.get(mode)?.(existing, incoming);
    if (otherwise === 'fail') throw refuse(13113, '$merge could not find a matching document in the target collection for at least one document in the source collection');
    if (otherwise !== 'insert') return undefined;
    return mode === 'merge' || mode === 'keepExisting' ? inNameOrder(incoming) : incoming;
  };
}

/** Refuses documents whose `on` fields are arrays: they could meet several. */
function checkedOn(combine: Combine, on: readonly string[] | undefined): Combine {
  const paths = (on ?? []).filter((path) => path !== '_id').map((path) => path.split('.'));
  return (existing, incoming) => {
    for (const path of paths) {
      const value = path.reduce<Value | undefined>((at, name) => (at instanceof Document ? at.get(name) : undefined), incoming);
      if (value instanceof BsonArray) throw refuse(51185, `$merge write error: 'on' field '${path.join('.')}' is an array`);
    }
    return combine(existing, incoming);
  };
}

/** How `$merge` is compiled. */
export const mergeRule: StageRule = {
  name: '$merge',
  parse: (specification, context) => {
    if (specification === '') throw refuse(73, `Invalid $merge target namespace, '${context.options.database}.'`);
    const given = typeof specification === 'string' ? Document.of({ into: specification }) : specification;
    if (!(given instanceof Document)) throw refuse(14, `$merge requires a string or object argument, but found ${nameOf(specification)}`);
    const unknown = given.keys().find((name) => !FIELDS.has(name));
    if (unknown !== undefined) throw refuse(40415, `BSON field '$merge.${unknown}' is an unknown field.`);
    const target = checkTarget(intoOf(given.get('into'), context), { system: 31319, reserved: 31320 }, '$merge');
    const on = onOf(given.get('on'));
    const combine = checkedOn(combineOf(given, context), on);
    return {
      name: '$merge',
      specification,
      open: (source, provider) => written(source, provider, { kind: 'merge', ...target, on, combine }),
      output: target,
      needs: (dependencies) => {
        dependencies.addWhole();
        return 'all-of-it';
      },
    };
  },
};
