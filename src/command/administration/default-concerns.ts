// getDefaultRWConcern and setDefaultRWConcern.

import { CommandError } from '../../base/errors.ts';
import { DateTime, Document, isNumber, isZero, type Value } from '../../bson/index.ts';
import { parseWriteConcern } from '../concerns.ts';
import { defineCommand, type Command, type Reply } from '../command.ts';
import { anyField, objectField, parseFields, strictBoolField, stringField } from '../fields.ts';
import type { ServerState } from '../server-state.ts';

const LEVELS: ReadonlySet<string> = new Set(['local', 'available', 'majority']);

const READ_CONCERN_FIELDS = { level: stringField };

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

/** A read concern that may be the default; undefined for the empty one, which takes the default away. */
function readConcernOf(given: Document): Document | undefined {
  if (given.isEmpty) return undefined;
  const { level } = parseFields('setDefaultRWConcern.defaultReadConcern', given, READ_CONCERN_FIELDS);
  if (level !== undefined && LEVELS.has(level)) return given;
  throw badValue(`level: "${level ?? ''}" is not suitable for the default read concern`);
}

function unknownMode(name: string): CommandError {
  return new CommandError(79, 'UnknownReplWriteConcern', `No write concern mode named '${name}' found in replica set configuration`);
}

/** A write concern that may be the default, completed as replies show it. */
function writeConcernOf(given: Document): Document {
  const w: Value | undefined = given.get('w');
  if (w === undefined) throw badValue("The default write concern must have a 'w' field");
  if (w === null) throw unknownMode('null');
  parseWriteConcern(given);
  if (typeof w === 'string' && w !== 'majority') throw unknownMode(w);
  if (isNumber(w) && isZero(w)) throw badValue('w: 0 is not suitable for the default write concern');
  return given.has('wtimeout') ? given : Document.fromEntries([...given.fields, ['wtimeout', 0]]);
}

/** The defaults in words of the reply. */
function describe(server: ServerState): Reply {
  const { readConcern, writeConcern, updated } = server.defaults.now;
  return {
    defaultReadConcern: readConcern ?? Document.of({ level: 'local' }),
    defaultWriteConcern: writeConcern ?? Document.of({ w: 'majority', wtimeout: 0 }),
    updateOpTime: updated?.time,
    updateWallClockTime: updated?.at,
    defaultWriteConcernSource: writeConcern === undefined ? 'implicit' : 'global',
    defaultReadConcernSource: readConcern === undefined ? 'implicit' : 'global',
    localUpdateWallClockTime: updated?.at ?? new DateTime(server.startedMs),
  };
}

const getDefaultRWConcern: Command = defineCommand({
  name: 'getDefaultRWConcern',
  access: 'admin',
  adminOnly: true,
  about: 'the read and write concern of those who name none',
  fields: { getDefaultRWConcern: anyField, inMemory: { ...strictBoolField, nullIsWrong: true } },
  run: ({ server }, { inMemory }) => Promise.resolve({ ...describe(server), inMemory: inMemory === true ? true : undefined }),
});

const setDefaultRWConcern: Command = defineCommand({
  name: 'setDefaultRWConcern',
  access: 'admin',
  adminOnly: true,
  writeConcern: true,
  about: 'sets the read and write concern of those who name none',
  fields: { setDefaultRWConcern: anyField, defaultReadConcern: objectField, defaultWriteConcern: objectField },
  run: async ({ server, generic }, { defaultReadConcern: read, defaultWriteConcern: write }) => {
    if (read === undefined && write === undefined) {
      throw badValue('At least one of the "defaultReadConcern" or "defaultWriteConcern" fields must be present');
    }
    const mode = generic.writeConcern?.w;
    if (typeof mode === 'string' && mode !== 'majority') throw unknownMode(mode);
    const was = server.defaults.now;
    const readConcern = read === undefined ? was.readConcern : readConcernOf(read);
    if (write?.isEmpty === true && was.writeConcern !== undefined) {
      throw new CommandError(20, 'IllegalOperation', 'The global default write concern cannot be unset once it is set.');
    }
    const writeConcern = write === undefined || write.isEmpty ? was.writeConcern : writeConcernOf(write);
    const time = server.time.tick();
    await server.defaults.set({ readConcern, writeConcern, updated: { at: new DateTime(server.env.clock.nowMs()), time } });
    return describe(server);
  },
});

export const DEFAULT_CONCERN_COMMANDS: readonly Command[] = [getDefaultRWConcern, setDefaultRWConcern];
