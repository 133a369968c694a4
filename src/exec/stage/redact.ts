// `$redact`: keeps, drops or descends into documents level by level, as an expression on each level says.
// Follows the manual's page "$redact (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { createCompiler, refuse, Variable } from '../../query/index.ts';
import type { Expression } from '../../query/index.ts';
import { mapped } from '../batches.ts';
import type { StageRule } from '../stage.ts';

/** One run over a document: the level that the expression sees is in the variable CURRENT. */
class Redaction {
  readonly #expression: Expression;
  readonly #current: Variable;
  readonly #root: Document;

  constructor(expression: Expression, current: Variable, root: Document) {
    this.#expression = expression;
    this.#current = current;
    this.#root = root;
  }

  level(document: Document): Document | undefined {
    this.#current.value = document;
    const decision = this.#expression.evaluate(this.#root);
    if (decision === 'keep') return document;
    if (decision === 'prune') return undefined;
    if (decision === 'descend') return this.#descend(document);
    throw refuse(17053, '$redact must evaluate to $$DESCEND, $$PRUNE or $$KEEP');
  }

  #descend(document: Document): Document {
    const kept: [string, Value][] = [];
    for (const [name, value] of document.fields) {
      const redacted = this.#value(value);
      if (redacted !== undefined) kept.push([name, redacted]);
    }
    return Document.fromEntries(kept);
  }

  #value(value: Value): Value | undefined {
    if (value instanceof Document) return this.level(value);
    if (!(value instanceof BsonArray)) return value;
    return BsonArray.of(value.items().map((item) => this.#value(item)).filter((item) => item !== undefined));
  }
}

/** How `$redact` is compiled. */
export const redactRule: StageRule = {
  name: '$redact',
  parse: (specification, { options }) => {
    const current = new Variable(undefined, false);
    const expression = createCompiler(options).with([['CURRENT', current]]).compile(specification);
    return {
      name: '$redact',
      specification,
      open: (source) => mapped(source, (document) => new Redaction(expression, current, document).level(document)),
      needs: (dependencies) => {
        dependencies.addWhole();
        return 'some';
      },
    };
  },
};
