// One request as the rules of access look at it: what it names, and whether its user may do this or that.

import { clusterTarget, databaseTarget, namespaceTarget, type Action, type Authorization, type Target } from '../../auth/index.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { CommandRequest } from '../../session/index.ts';

/** Who asks. */
export interface Asker {
  readonly user: string;
  readonly db: string;
  readonly authorization: Authorization;
}

/** The request of somebody. */
export class Asks {
  readonly db: string;
  readonly body: Document;
  readonly asker: Asker;
  readonly #request: CommandRequest;

  constructor(request: CommandRequest, db: string, asker: Asker) {
    this.#request = request;
    this.body = request.body;
    this.db = db;
    this.asker = asker;
  }

  /** The collection that the command names; empty where it names none. */
  get collection(): string {
    const value = this.body.first?.[1];
    return typeof value === 'string' ? value : '';
  }

  may(target: Target, ...actions: readonly Action[]): boolean {
    return actions.every((action) => this.asker.authorization.allows(target, action));
  }

  /** On the collection that the command names, or on the database where it names none. */
  mayHere(...actions: readonly Action[]): boolean {
    const { collection } = this;
    return this.may(collection === '' ? databaseTarget(this.db) : namespaceTarget(this.db, collection), ...actions);
  }

  mayInDatabase(...actions: readonly Action[]): boolean {
    return this.may(databaseTarget(this.db), ...actions);
  }

  mayOnServer(...actions: readonly Action[]): boolean {
    return this.may(clusterTarget, ...actions);
  }

  /** On a collection named `db.collection`. */
  mayOn(namespace: Value | undefined, ...actions: readonly Action[]): boolean {
    if (typeof namespace !== 'string') return false;
    const dot = namespace.indexOf('.');
    if (dot < 0) return this.may(databaseTarget(namespace), ...actions);
    return this.may(namespaceTarget(namespace.slice(0, dot), namespace.slice(dot + 1)), ...actions);
  }

  /** The documents of an array field, or of the sequence that came in its place. */
  documents(field: string): readonly Document[] {
    const sequence = this.#request.sequences.get(field);
    if (sequence !== undefined) return [...sequence];
    return documentsIn(this.body.get(field));
  }

  /** The text of a field; empty where it is none. */
  text(field: string): string {
    const value = this.body.get(field);
    return typeof value === 'string' ? value : '';
  }

  /** Whether a field says yes. */
  says(field: string): boolean {
    const value = this.body.get(field);
    return value === true || value === 1;
  }

  /** The request of another command inside this one. */
  inner(body: Document, db: string = this.db): Asks {
    return new Asks({ ...this.#request, body, sequences: new Map() }, db, this.asker);
  }
}

/** The documents in an array; none where it is no array. */
export function documentsIn(value: Value | undefined): Document[] {
  return value instanceof BsonArray ? value.items().filter((item): item is Document => item instanceof Document) : [];
}
