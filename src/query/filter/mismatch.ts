// Why a document does not match a filter, in the shape of `errInfo.details` of error 121: the operator that failed, as it was written, the
// value it looked at, and for the operators of logic the clauses. Made only when a document was refused.
// Follows the manual's page "Schema Validation".

import { BsonArray, Document, getField, parsePath, Regex, typeNameOf, typeOf } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { filterOf } from './filter.ts';
import type { QueryOptions } from './filter.ts';
import { parseFilter } from './parse.ts';
import { annotations, schemaRulesNotSatisfied } from './schema/mismatch.ts';

/** One condition of a filter, as it was written. */
interface Clause {
  readonly operator: string;
  readonly filter: Document;
  /** Undefined for an operator that stands by itself. */
  readonly path: string | undefined;
  readonly operand: Value;
}

/** Reasons of a failure, and of a success where that is what is wrong. */
const reasons: ReadonlyMap<string, readonly [failed: string, succeeded: string]> = new Map([
  ['$type', ['type did not match', 'type did match']],
  ['$in', ['no matching value found in array', 'matching value found in array']],
  ['$nin', ['matching value found in array', 'no matching value found in array']],
  ['$exists', ['path does not exist', 'path does exist']],
  ['$regex', ['regular expression did not match', 'regular expression did match']],
  ['$size', ['array length was not equal to given size', 'array length was equal to given size']],
  ['$mod', ['$mod did not evaluate to expected remainder', '$mod did evaluate to expected remainder']],
  ['$all', ['array did not contain all specified values', 'array did contain all specified values']],
  ['$elemMatch', ['array did not satisfy the child predicate', 'array did satisfy the child predicate']],
]);

function clausesOf(filter: Document): Clause[] {
  return filter.fields.flatMap(([name, operand]): Clause[] => {
    if (name === '$comment') return [];
    if (name.startsWith('$')) return [{ operator: name, filter: Document.fromEntries([[name, operand]]), path: undefined, operand }];
    const isCondition = operand instanceof Document && operand.first?.[0].startsWith('$') === true;
    if (!isCondition) {
      const operator = operand instanceof Regex ? '$regex' : '$eq';
      return [{ operator, filter: Document.fromEntries([[name, operand]]), path: name, operand }];
    }
    return operand.fields
      .filter(([operator]) => operator !== '$options')
      .map(([operator, value]) => {
        const options = operator === '$regex' ? operand.fields.filter(([option]) => option === '$options') : [];
        const condition = Document.fromEntries([[operator, value], ...options]);
        return { operator, filter: Document.fromEntries([[name, condition]]), path: name, operand: value };
      });
  });
}

/** Describes refusals of one filter. */
class Describer {
  readonly #options: QueryOptions;
  readonly #document: Document;

  constructor(document: Document, options: QueryOptions) {
    this.#document = document;
    this.#options = options;
  }

  /** `succeeded`: it is wrong that the filter matches. */
  describe(filter: Document, succeeded: boolean): Document {
    const clauses = clausesOf(filter);
    const [only, second] = clauses;
    if (only === undefined) return Document.of({ operatorName: '$alwaysFalse' });
    if (second === undefined) return this.#clause(only, succeeded);
    const entries = this.#entries(clauses.map((clause) => clause.filter), succeeded);
    return Document.fromEntries([['operatorName', '$and'], [succeeded ? 'clausesSatisfied' : 'clausesNotSatisfied', BsonArray.of(entries)]]);
  }

  #matches(filter: Document): boolean {
    return filterOf(parseFilter(filter, this.#options, 'match')).matches(this.#document);
  }

  /** The filters that match, or do not, by their places. */
  #entries(filters: readonly Value[], succeeded: boolean): Document[] {
    return filters.flatMap((filter, index) => {
      if (!(filter instanceof Document) || this.#matches(filter) !== succeeded) return [];
      return [Document.of({ index, details: this.describe(filter, succeeded) })];
    });
  }

  #clause(clause: Clause, succeeded: boolean): Document {
    const { operator, operand, path } = clause;
    if (operator === '$jsonSchema' && operand instanceof Document) return this.#schema(operand, succeeded);
    if (operand instanceof BsonArray && path === undefined) return this.#logic(operator, operand, succeeded);
    if (operator === '$not' && path !== undefined && operand instanceof Document) {
      const details = this.describe(Document.fromEntries([[path, operand]]), !succeeded);
      return Document.of({ operatorName: '$not', details });
    }
    const fields: [string, Value][] = [['operatorName', operator], ['specifiedAs', clause.filter]];
    if (path === undefined) {
      fields.push(['reason', succeeded ? 'expression did match' : 'expression did not match'], ['expressionResult', succeeded]);
      return Document.fromEntries(fields);
    }
    return Document.fromEntries([...fields, ...this.#considered(clause, path, succeeded)]);
  }

  #considered({ operator, operand }: Clause, path: string, succeeded: boolean): [string, Value][] {
    const value = getField(this.#document, parsePath(path));
    const [failed, worked] = reasons.get(operator) ?? ['comparison failed', 'comparison succeeded'];
    if (operator === '$exists') return [['reason', (operand === false || operand === 0) === succeeded ? failed : worked]];
    if (value === undefined) return [['reason', 'field was missing']];
    const fields: [string, Value][] = [['reason', succeeded ? worked : failed], ['consideredValue', value]];
    if (operator === '$type') fields.push(['consideredType', typeNameOf(typeOf(value)) ?? 'unknown']);
    return fields;
  }

  #logic(operator: string, operand: BsonArray, succeeded: boolean): Document {
    const wrong = operator === '$nor' ? !succeeded : succeeded;
    const entries = this.#entries(operand.items(), wrong);
    return Document.fromEntries([['operatorName', operator], [wrong ? 'clausesSatisfied' : 'clausesNotSatisfied', BsonArray.of(entries)]]);
  }

  #schema(schema: Document, succeeded: boolean): Document {
    if (succeeded) return Document.of({ operatorName: '$jsonSchema', specifiedAs: Document.of({ $jsonSchema: schema }), reason: 'schema matched' });
    const rules = schemaRulesNotSatisfied(schema, this.#document);
    return Document.fromEntries([['operatorName', '$jsonSchema'], ...annotations(schema), ['schemaRulesNotSatisfied', BsonArray.of(rules)]]);
  }
}

/** Why `document` does not match `filter`, which it does not. */
export function describeMismatch(filter: Document, document: Document, options: QueryOptions): Document {
  return new Describer(document, options).describe(filter, false);
}
