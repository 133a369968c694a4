// What the log of operations is told of a collection's documents. What is noted holds no more than its operation needs: it stays until the commit.

import type { Binary } from '../../bson/index.ts';
import { Document } from '../../bson/index.ts';
import type { Soon } from '../../engine/index.ts';
import { soonOf } from '../document-change.ts';
import type { Namespace } from '../namespace.ts';
import { afterSoon } from '../soon.ts';
import type { StoredTransaction } from '../transaction.ts';
import type { InsertChoices } from '../types.ts';
import type { OperationSpace } from './operation.ts';
import { diffOf } from './update-diff.ts';

/** The collection that is told of. */
export interface NotedCollection {
  readonly ns: Namespace;
  readonly uuid: Binary;
  /** Whether change streams are to see documents as they were before. */
  readonly keepsImages: boolean;
}

/** Both sides of an update. */
export interface DocumentUpdate {
  readonly before: Document;
  readonly after: Document;
}

/** Notes of one collection, made with the transaction that changes it; nothing where its database is not logged. */
export class DocumentNotes {
  readonly #db: string;
  readonly #space: OperationSpace;
  readonly #keepsImages: boolean;

  constructor({ ns, uuid, keepsImages }: NotedCollection) {
    this.#db = ns.db;
    this.#space = { ns: ns.text, uuid };
    this.#keepsImages = keepsImages;
  }

  insert(txn: StoredTransaction, document: Document, choices: InsertChoices | undefined): void {
    if (txn.logs(this.#db)) txn.note({ kind: 'insert', space: this.#space, o: document, statement: choices?.statement });
  }

  /** Notes an update. The difference is found now: what is noted must not change, nor hold two documents where a few fields do. */
  update(txn: StoredTransaction, { before, after }: DocumentUpdate, choices: InsertChoices | undefined): Soon<void> {
    if (!txn.logs(this.#db)) return undefined;
    const shape = choices?.shape;
    if (shape === 'replacement') {
      this.#difference(txn, { before, after, diff: undefined }, choices);
      return undefined;
    }
    const finding = soonOf(txn, after, () => diffOf(before, after, shape));
    return afterSoon(finding, (diff) => {
      this.#difference(txn, { before, after, diff }, choices);
    });
  }

  #difference(txn: StoredTransaction, { before, after, diff }: DocumentUpdate & { readonly diff: Document | undefined }, choices: InsertChoices | undefined): void {
    const { shape, statement } = choices ?? {};
    const images = this.#keepsImages ? { before, after } : {};
    const o2 = Document.of({ _id: after.get('_id') });
    // What is not shorter is told whole, unless operators say which fields were written.
    const isWhole = diff === undefined || (shape === undefined && diff.byteLength >= after.byteLength);
    txn.note({ kind: isWhole ? 'replace' : 'update', space: this.#space, o: isWhole ? after : diff, o2, ...images, statement });
  }

  remove(txn: StoredTransaction, before: Document, choices: InsertChoices | undefined): void {
    if (!txn.logs(this.#db)) return;
    const images = this.#keepsImages ? { before } : {};
    txn.note({ kind: 'remove', space: this.#space, o: Document.of({ _id: before.get('_id') }), ...images, statement: choices?.statement });
  }

  /** A removal, of a document whose bytes are the caller's and may change later. The caller asks itself whether the database is logged. */
  gone(txn: StoredTransaction, bytes: Uint8Array): void {
    const before = Document.fromBytes(bytes);
    const images = this.#keepsImages ? { before: Document.fromBytes(bytes.slice()) } : {};
    txn.note({ kind: 'remove', space: this.#space, o: Document.fromBytes(Document.of({ _id: before.get('_id') }).toBytes()), ...images });
  }
}
