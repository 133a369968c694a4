// Document validation: the query or $jsonSchema that a collection was created with, asked of every document that comes or changes.
// MongoDB's page "Schema Validation": level `moderate` leaves out updates of documents that did not match before; action `warn` lets all pass.

import { CommandError } from '../base/errors.ts';
import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { compileFilter, describeMismatch } from '../query/index.ts';
import type { Filter, QueryOptions } from '../query/index.ts';

/** What a collection asks of its documents. */
export interface Validation {
  readonly validator: Document | undefined;
  readonly level: 'off' | 'strict' | 'moderate';
  readonly action: 'error' | 'warn';
}

/** Whether an expression somewhere in a value asks for the time. */
function usesTime(value: Value): boolean {
  if (typeof value === 'string') return /^\$\$(?:NOW|CLUSTER_TIME)(?:\.|$)/.test(value);
  if (value instanceof BsonArray) return value.items().some(usesTime);
  return value instanceof Document && value.fields.some(([, inner]) => usesTime(inner));
}

/** Compiled once for a collection. */
export class Validator {
  readonly #filter: (() => Filter) | undefined;
  readonly #validation: Validation;
  readonly #options: () => QueryOptions;

  constructor(validation: Validation, options: () => QueryOptions) {
    this.#validation = validation;
    const { validator, level, action } = validation;
    this.#options = options;
    if (validator === undefined) return;
    const isTimed = usesTime(validator);
    const filter = compileFilter(validator, options(), 'single');
    if (level === 'off' || action !== 'error') return;
    // A validator that asks for the time asks at every write.
    this.#filter = isTimed ? () => compileFilter(validator, options(), 'single') : () => filter;
  }

  /** Whether it lets everything pass. */
  get isEmpty(): boolean {
    return this.#filter === undefined;
  }

  /** 121 where `after` does not match and must. */
  check(after: Document, before: Document | undefined): void {
    const filter = this.#filter?.();
    if (filter === undefined || filter.matches(after)) return;
    if (before !== undefined && this.#validation.level === 'moderate' && !filter.matches(before)) return;
    throw new CommandError(121, 'DocumentValidationFailure', 'Document failed validation', {
      details: new Map<string, unknown>([['errInfo', this.#errInfo(after)]]),
    });
  }

  #errInfo(after: Document): Document {
    const details = describeMismatch(this.#validation.validator ?? Document.empty, after, this.#options());
    return Document.of({ failingDocumentId: after.get('_id'), details });
  }
}
