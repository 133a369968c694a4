// The users and roles of the server: two collections of the database `admin`, changed by ordinary commits, so a crash takes a change whole
// or leaves it out. Each change raises `generation`, by which whoever keeps something made from them knows that it is old.

import { builtInRole, roleKey, type Privilege, type Role, type RoleName } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { Document } from '../../bson/index.ts';
import { namespaceOf, type Catalog, type CatalogTransaction, type Collection, type Namespace } from '../../catalog/index.ts';
import { readRole, readUser, userKey, type StoredRole, type StoredUser } from './stored-user.ts';

const USERS = namespaceOf('admin', 'system.users');
const ROLES = namespaceOf('admin', 'system.roles');

/** What is kept for people and what for roles. */
export type PrincipalKind = 'users' | 'roles';

const NAMESPACES: Readonly<Record<PrincipalKind, Namespace>> = { users: USERS, roles: ROLES };

/** What a role comes to, with all roles in it. */
export interface RoleTree {
  readonly roles: readonly RoleName[];
  readonly privileges: readonly Privilege[];
}

/** Users and roles. */
export class UserStore {
  readonly #catalog: Catalog;
  #generation = 0;
  #empty: { readonly generation: number; readonly value: boolean } | undefined;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Number of the present state. */
  get generation(): number {
    return this.#generation;
  }

  /** Says that users or roles were changed, by whatever way. */
  changed(): void {
    this.#generation += 1;
  }

  /** Whether nobody has been made yet. */
  async isEmpty(): Promise<boolean> {
    if (this.#empty?.generation === this.#generation) return this.#empty.value;
    const generation = this.#generation;
    const value = (await this.all('users')).length === 0 && (await this.all('roles')).length === 0;
    this.#empty = { generation, value };
    return value;
  }

  async user(name: string, db: string): Promise<StoredUser | undefined> {
    const document = await this.#read(USERS, userKey(name, db));
    return document === undefined ? undefined : readUser(document);
  }

  async storedRole(name: RoleName): Promise<StoredRole | undefined> {
    const document = await this.#read(ROLES, roleKey(name));
    return document === undefined ? undefined : readRole(document);
  }

  /** A role that is built in or was made. */
  async role(name: RoleName): Promise<Role | undefined> {
    const builtIn = builtInRole(name.role, name.db);
    if (builtIn !== undefined) return builtIn;
    const stored = await this.storedRole(name);
    return stored === undefined ? undefined : { ...stored, isBuiltIn: false };
  }

  /** Every role that these roles come to, themselves first, and all privileges of them. A name without a role gives nothing. */
  async expand(names: readonly RoleName[]): Promise<RoleTree> {
    const seen = new Map<string, RoleName>();
    const privileges: Privilege[] = [];
    const waiting = [...names];
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (seen.has(roleKey(name))) continue;
      seen.set(roleKey(name), { role: name.role, db: name.db });
      const role = await this.role(name);
      if (role === undefined) continue;
      privileges.push(...role.privileges);
      waiting.push(...role.roles);
    }
    return { roles: [...seen.values()], privileges };
  }

  /** All documents, in order of their `_id`. */
  async all(kind: PrincipalKind): Promise<Document[]> {
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, NAMESPACES[kind]);
      return collection === undefined ? [] : await documentsOf(collection, txn);
    } finally {
      txn.abort();
    }
  }

  /** Adds a document; one of the same name is refused with `taken`. */
  async insert(kind: PrincipalKind, document: Document, taken: CommandError): Promise<void> {
    try {
      await this.#change(kind, (collection, txn) => collection.insert(txn, collection.prepare(document)));
    } catch (error) {
      if (error instanceof CommandError && error.code === 11000) throw taken;
      throw error;
    }
  }

  /** Puts `change` of the document in its place; `missing` where there is none. The change may be asked for more than once. */
  async update(kind: PrincipalKind, id: string, change: (before: Document) => Document, missing: CommandError): Promise<void> {
    await this.#change(kind, async (collection, txn) => {
      const key = collection.keyOf(id);
      await collection.lock(txn, key);
      const before = await collection.getLatest(txn, key);
      if (before === undefined) throw missing;
      await collection.update(txn, key, { before, after: change(before) });
    });
  }

  /** Changes or removes (`undefined`) every document as `change` says; gives the number of those changed. */
  async updateAll(kind: PrincipalKind, change: (before: Document) => Document | undefined): Promise<number> {
    let changed = 0;
    await this.#change(kind, async (collection, txn) => {
      changed = 0;
      for (const seen of await documentsOf(collection, txn)) {
        const key = collection.keyOf(seen.get('_id') ?? null);
        await collection.lock(txn, key);
        const before = await collection.getLatest(txn, key);
        const after = before === undefined ? undefined : change(before);
        if (before === undefined || after === before) continue;
        changed += 1;
        if (after === undefined) await collection.remove(txn, key, before);
        else await collection.update(txn, key, { before, after });
      }
    });
    return changed;
  }

  /** Removes a document; tells whether it was there. */
  async remove(kind: PrincipalKind, id: string): Promise<boolean> {
    return (await this.updateAll(kind, (document) => (document.get('_id') === id ? undefined : document))) > 0;
  }

  async #change(kind: PrincipalKind, work: (collection: Collection, txn: CatalogTransaction) => Promise<void> | void): Promise<void> {
    await this.#catalog.run(async (txn) => {
      await work(await this.#catalog.ensureCollection(txn, NAMESPACES[kind]), txn);
    });
    this.changed();
  }

  async #read(ns: Namespace, id: string): Promise<Document | undefined> {
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, ns);
      return await collection?.get(txn, collection.keyOf(id));
    } finally {
      txn.abort();
    }
  }
}

async function documentsOf(collection: Collection, txn: CatalogTransaction): Promise<Document[]> {
  const documents: Document[] = [];
  const cursor = collection.scan(txn, {}, 1);
  try {
    for (;;) {
      const batch = await cursor.nextBatch({ rows: 256, bytes: 1 << 20 });
      if (batch.length === 0) return documents;
      for (let at = 0; at < batch.length; at++) documents.push(Document.fromBytes(batch.value(at).slice()));
    }
  } finally {
    cursor.close();
  }
}
