// Whether a statement that says it is a repeat can be one: the session remembers under its number what was done, which must be what the
// statement would do. Codes are those of MongoDB's checks of retried writes; a change is refused, never answered with another's result.

import { CommandError } from '../../base/errors.ts';
import type { Document } from '../../bson/index.ts';
import type { StatementKind, StatementResult } from '../../session/index.ts';
import type { SingleResult } from './single-write.ts';

/** What a statement on one document did. */
export function kindOf({ upserted, after, unread }: SingleResult): StatementKind {
  if (upserted) return 'insert';
  return after === undefined && unread !== true ? 'delete' : 'update';
}

const notCompatible = (code: number, command: string, kind: StatementKind): CommandError =>
  new CommandError(code, `Location${String(code)}`, `${command} retry request is not compatible with previous write in the transaction of type: ${kind.slice(0, 1)}`);

/** Refuses an update whose number is that of a delete; 40638. */
export function checkRetriedUpdate({ kind }: StatementResult): void {
  if (kind === 'delete') throw notCompatible(40638, 'update', kind);
}

interface RetriedFindAndModify {
  readonly remove?: boolean | undefined;
  readonly upsert?: boolean | undefined;
  readonly new?: boolean | undefined;
}

/** The answer that was given before; 40606, 40608, 40611, 40612 where the request is another than the one it was given to, 217 where no document was kept. */
export function checkRetriedFindAndModify({ kind, reply, showsAfter = false }: StatementResult, request: RetriedFindAndModify): Document {
  const name = 'findAndModify';
  if (kind === 'delete' && request.remove !== true) throw notCompatible(40606, name, kind);
  if (kind === 'insert' && request.upsert !== true) throw notCompatible(40608, name, kind);
  const wantsAfter = request.new === true;
  if (reply === undefined) {
    const text = `Retrying a findAndModify operation after it has been executed but the ${wantsAfter ? 'postImage' : 'preImage'} is no longer available`;
    throw new CommandError(217, 'IncompleteTransactionHistory', text);
  }
  if (kind === 'update' && wantsAfter !== showsAfter) {
    const text = wantsAfter
      ? 'findAndModify retry request wants the document after update returned, but only before update document is stored'
      : 'findAndModify retry request wants the document before update returned, but only after update document is stored';
    throw new CommandError(wantsAfter ? 40611 : 40612, `Location${wantsAfter ? '40611' : '40612'}`, text);
  }
  return reply;
}
