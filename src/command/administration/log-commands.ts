// The log by command: getLog, logRotate, logApplicationMessage.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, isNumber, type Value } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { required, stringField, typeText, type Field, type RequiredField } from '../fields.ts';

const LOGS: readonly string[] = ['global', 'startupWarnings'];

const getLog: Command = defineCommand({
  name: 'getLog',
  access: 'admin',
  adminOnly: true,
  about: 'the last lines of the log',
  fields: { getLog: required(stringField) },
  run: ({ server }, { getLog: name }) => {
    if (name === '*') return Promise.resolve({ names: BsonArray.of([...LOGS]) });
    if (!LOGS.includes(name)) throw new CommandError(96, 'OperationFailed', `No log named '${name}'`);
    const lines = name === 'global' ? server.log.recent() : server.log.startupWarnings;
    return Promise.resolve({ totalLinesWritten: name === 'global' ? server.log.written : lines.length, log: BsonArray.of([...lines]) });
  },
});

/** A number or a bool for all logs, or the name of one. */
const logNameField: RequiredField<Value> = required<Value>({
  types: [],
  required: false,
  read: (value, at) => {
    if (typeof value === 'boolean' || isNumber(value) || typeof value === 'string') return value;
    throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}', expected types '[bool, number, string]'`);
  },
} satisfies Field<Value>);

const logRotate: Command = defineCommand({
  name: 'logRotate',
  access: 'admin',
  adminOnly: true,
  about: 'puts the file of the log aside and begins a new one',
  fields: { logRotate: logNameField },
  lax: true,
  run: ({ server }, { logRotate: name }) => {
    if (typeof name === 'string' && name !== 'server') throw new CommandError(4, 'NoSuchKey', `Unknown log type for rotate: ${name}`);
    try {
      server.control.rotateLog();
    } catch (cause) {
      throw new CommandError(37, 'FileRenameFailed', `the log could not be rotated: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
    server.log.write({ severity: 'I', component: 'CONTROL', id: 23166, message: 'Log rotation initiated' });
    return Promise.resolve({});
  },
});

const logApplicationMessage: Command = defineCommand({
  name: 'logApplicationMessage',
  access: 'admin',
  adminOnly: true,
  about: 'writes a message to the log',
  fields: { logApplicationMessage: required(stringField) },
  run: ({ server, operation }, { logApplicationMessage: message }) => {
    const by = operation.connection.user;
    server.log.write({ severity: 'I', component: 'ACCESS', id: 5286331, message: 'Application message' }, { msg: message, by: by === '' ? undefined : by, client: operation.connection.remote });
    return Promise.resolve({});
  },
});

export const LOG_COMMANDS: readonly Command[] = [getLog, logRotate, logApplicationMessage];
