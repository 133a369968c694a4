// A role: a name in a database, privileges of its own, and other roles whose privileges it has too.

import type { Privilege } from './privilege.ts';

/** A role as it is named. */
export interface RoleName {
  readonly role: string;
  readonly db: string;
}

/** What a role grants. */
export interface Role extends RoleName {
  readonly privileges: readonly Privilege[];
  readonly roles: readonly RoleName[];
  readonly isBuiltIn: boolean;
}

/** One text for each role: `db.role`, as its document's `_id`. */
export function roleKey({ role, db }: RoleName): string {
  return `${db}.${role}`;
}
