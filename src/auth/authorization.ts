// What somebody may do: the privileges of all roles they have, put together. Asked once or more for every command, so each resource is kept
// once, with the set of its actions.

import { covers, type Action, type Privilege, type Resource, type Target } from './privilege.ts';

interface Grant {
  readonly resource: Resource;
  readonly actions: Set<Action>;
}

function resourceKey(resource: Resource): string {
  return resource.kind === 'namespace' ? `${resource.db}\0${resource.collection}` : resource.kind;
}

/** Put-together privileges. */
export class Authorization {
  readonly #grants: Map<string, Grant> = new Map();

  constructor(privileges: Iterable<Privilege>) {
    for (const { resource, actions } of privileges) {
      const key = resourceKey(resource);
      const grant = this.#grants.get(key) ?? { resource, actions: new Set<Action>() };
      for (const action of actions) grant.actions.add(action);
      this.#grants.set(key, grant);
    }
  }

  /** Whether the action is allowed on the target. */
  allows(target: Target, action: Action): boolean {
    for (const { resource, actions } of this.#grants.values()) {
      if ((actions.has(action) || actions.has('anyAction')) && covers(resource, target)) return true;
    }
    return false;
  }

  /** Whether anything at all is allowed in a database, or in one collection of it. */
  touches(db: string, collection?: string): boolean {
    for (const { resource } of this.#grants.values()) {
      if (resource.kind === 'any') return true;
      if (resource.kind !== 'namespace' || (resource.db !== db && (resource.db !== '' || db === 'local' || db === 'config'))) continue;
      if (collection === undefined || covers(resource, { kind: 'collection', db, collection })) return true;
    }
    return false;
  }

  /** Every resource once, with its actions in order. */
  privileges(): Privilege[] {
    return [...this.#grants.values()].map(({ resource, actions }) => ({ resource, actions: [...actions].sort() }));
  }
}
