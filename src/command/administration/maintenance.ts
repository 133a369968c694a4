// Care of the server: shutdown, autoCompact, dropConnections, rotateCertificates, setIndexCommitQuorum. Where this server does by itself what
// the command asks for, it says so by doing nothing more.

import { CommandError } from '../../base/errors.ts';
import type { BsonArray, Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, arrayField, boolField, collectionField, longField, mappedField, numberField, required, strictBoolField, typeText, type Field } from '../fields.ts';

const shutdown: Command = defineCommand({
  name: 'shutdown',
  access: 'admin',
  adminOnly: true,
  about: 'stops the server once what is being served has been answered',
  fields: { shutdown: anyField, force: boolField, timeoutSecs: numberField },
  run: ({ server, operation }) => {
    server.log.write({ severity: 'I', component: 'COMMAND', id: 4695400, message: 'shutdown command received' }, { client: operation.connection.remote });
    server.control.shutdown();
    return Promise.resolve({});
  },
});

const MEGABYTE = 1n << 20n;

/** Megabytes that fit into 63 bits as bytes. */
const targetField: Field<bigint> = mappedField(longField, (megabytes) => {
  if (megabytes >= 1n) return megabytes;
  throw new CommandError(2, 'BadValue', `BSON field 'freeSpaceTargetMB' value must be >= 1, actual value '${String(megabytes)}'`);
});

const autoCompact: Command = defineCommand({
  name: 'autoCompact',
  access: 'admin',
  adminOnly: true,
  writeConcern: false,
  about: 'nothing: files are always made smaller in the background',
  fields: { autoCompact: required(strictBoolField), freeSpaceTargetMB: targetField, runOnce: strictBoolField },
  run: ({ server }, { autoCompact: on, freeSpaceTargetMB: megabytes = 20n, runOnce }) => {
    const running = server.parameters.get('autoCompact');
    const wanted = on && runOnce !== true ? megabytes : undefined;
    if (on && megabytes * MEGABYTE >= 1n << 63n) throw new CommandError(2, 'BadValue', 'freeSpaceTargetMB is too large');
    if (on && running !== undefined && running !== megabytes) throw new CommandError(23, 'AlreadyInitialized', 'Background compaction is running with other settings');
    if (wanted === undefined) server.parameters.delete('autoCompact');
    else server.parameters.set('autoCompact', wanted);
    return Promise.resolve({});
  },
});

/** `host:port`, `[ipv6]:port` or a host alone. */
function checkHostAndPort(text: string): void {
  const match = /^(?:\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(text);
  const port = match?.[1] === undefined ? 27017 : Number(match[1]);
  if (match === null || port < 1 || port > 65535) throw new CommandError(9, 'FailedToParse', `'${text}' is no host and port`);
}

const hostsField: Field<BsonArray> = mappedField(arrayField, (hosts, at) => {
  for (const host of hosts.items()) {
    if (host === null) continue;
    if (typeof host !== 'string') throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(host)}', expected type 'string'`);
    checkHostAndPort(host);
  }
  return hosts;
});

const dropConnections: Command = defineCommand({
  name: 'dropConnections',
  access: 'admin',
  adminOnly: true,
  about: 'closes connections from this server to others: there are none',
  fields: { dropConnections: anyField, hostAndPort: required(hostsField) },
  run: () => Promise.resolve({}),
});

const rotateCertificates: Command = defineCommand({
  name: 'rotateCertificates',
  access: 'admin',
  adminOnly: true,
  about: 'refused: certificates are read at the start',
  fields: { rotateCertificates: anyField, message: anyField },
  run: () => Promise.reject(new CommandError(140, 'InvalidSSLConfiguration', 'certificates are read when the server starts')),
});

const setIndexCommitQuorum: Command = defineCommand({
  name: 'setIndexCommitQuorum',
  access: 'write',
  about: 'members that must be ready before an index build commits: there is one member',
  fields: { setIndexCommitQuorum: collectionField, indexNames: required(arrayField), commitQuorum: required(anyField) },
  run: ({ server, db }, { setIndexCommitQuorum: name, indexNames }) => {
    const ns = namespaceOf(db, name);
    const asked: readonly Value[] = indexNames.items();
    const builds = server.catalog.builds().filter((build) => build.ns.text === ns.text && asked.every((index) => typeof index === 'string' && build.names.includes(index)));
    if (builds.length > 0 && asked.length > 0) return Promise.resolve({});
    return Promise.reject(new CommandError(27, 'IndexNotFound', `Cannot find an index build on collection '${ns.text}' with the provided index names`));
  },
});

export const MAINTENANCE_COMMANDS: readonly Command[] = [shutdown, autoCompact, dropConnections, rotateCertificates, setIndexCommitQuorum];
