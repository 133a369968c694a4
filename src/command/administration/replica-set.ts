// The replica set as tools ask for it: one member, which is the primary. What would change the set is refused: it has no other members yet.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, Double, ObjectId, Timestamp } from '../../bson/index.ts';
import { compareTimes } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, objectField, required, typedField } from '../fields.ts';
import type { ServerState } from '../server-state.ts';

const HEARTBEAT_MS = 2000n;

/** A set's id, the same over restarts for one name. */
const SET_ID = ObjectId.from('7fffffff0000000000000002');

const timestampField = typedField(['timestamp'], (value): value is Timestamp => value instanceof Timestamp);

function checkIsSet({ options }: ServerState): void {
  if (options.standalone) throw new CommandError(76, 'NoReplicationEnabled', 'not running with --replSet');
}

const replSetGetStatus: Command = defineCommand({
  name: 'replSetGetStatus',
  access: 'admin',
  adminOnly: true,
  about: 'the members of the replica set and how they are: one, the primary',
  fields: { replSetGetStatus: anyField, initialSync: anyField },
  run: ({ server, operation }) => {
    checkIsSet(server);
    const time = server.time.operationTime;
    const opTime = Document.of({ ts: time, t: 1n });
    const date = new DateTime(time.seconds * 1000);
    // The clock may have been set back.
    const uptime = Math.max(0, Math.floor((server.env.clock.nowMs() - server.startedMs) / 1000));
    const started = new DateTime(server.startedMs);
    const member = Document.of({
      _id: 0, name: operation.connection.local, health: new Double(1), state: 1, stateStr: 'PRIMARY', uptime, optime: opTime, optimeDate: date, lastAppliedWallTime: date, lastDurableWallTime: date,
      syncSourceHost: '', syncSourceId: -1, infoMessage: '', electionTime: time, electionDate: started, configVersion: 1, configTerm: 1, self: true, lastHeartbeatMessage: '',
    });
    return Promise.resolve({
      set: server.options.replicaSetName,
      date: new DateTime(server.env.clock.nowMs()),
      myState: 1,
      term: 1n,
      syncSourceHost: '',
      syncSourceId: -1,
      heartbeatIntervalMillis: HEARTBEAT_MS,
      majorityVoteCount: 1,
      writeMajorityCount: 1,
      votingMembersCount: 1,
      writableVotingMembersCount: 1,
      optimes: Document.of({ lastCommittedOpTime: opTime, lastCommittedWallTime: date, readConcernMajorityOpTime: opTime, appliedOpTime: opTime, durableOpTime: opTime, lastAppliedWallTime: date, lastDurableWallTime: date }),
      members: BsonArray.of([member]),
    });
  },
});

function configuration({ server, operation }: CommandContext): Document {
  const member = Document.of({ _id: 0, host: operation.connection.local, arbiterOnly: false, buildIndexes: true, hidden: false, priority: new Double(1), tags: Document.empty, secondaryDelaySecs: 0n, votes: 1 });
  return Document.of({
    _id: server.options.replicaSetName,
    version: 1,
    term: 1,
    members: BsonArray.of([member]),
    protocolVersion: 1n,
    writeConcernMajorityJournalDefault: true,
    settings: Document.of({ chainingAllowed: true, heartbeatIntervalMillis: Number(HEARTBEAT_MS), heartbeatTimeoutSecs: 10, electionTimeoutMillis: 10_000, getLastErrorModes: Document.empty, replicaSetId: SET_ID }),
  });
}

const replSetGetConfig: Command = defineCommand({
  name: 'replSetGetConfig',
  access: 'admin',
  adminOnly: true,
  about: 'the configuration of the replica set',
  fields: { replSetGetConfig: anyField, commitmentStatus: anyField },
  run: (context) => {
    checkIsSet(context.server);
    return Promise.resolve({ config: configuration(context) });
  },
});

const replSetInitiate: Command = defineCommand({
  name: 'replSetInitiate',
  access: 'admin',
  adminOnly: true,
  about: 'refused: the set of one member is there from the start',
  fields: { replSetInitiate: anyField },
  run: ({ server }) => {
    checkIsSet(server);
    return Promise.reject(new CommandError(23, 'AlreadyInitialized', 'already initialized'));
  },
});

const appendOplogNote: Command = defineCommand({
  name: 'appendOplogNote',
  access: 'write',
  adminOnly: true,
  about: 'writes a message into the oplog',
  fields: { appendOplogNote: anyField, data: required(objectField), maxClusterTime: timestampField },
  run: async ({ server }, { data, maxClusterTime }) => {
    checkIsSet(server);
    if (maxClusterTime !== undefined && compareTimes(maxClusterTime, server.time.operationTime) <= 0) {
      throw new CommandError(209, 'StaleClusterTime', 'Requested maxClusterTime is not newer than what was applied last');
    }
    await server.catalog.appendNote(data);
    return {};
  },
});

export const REPLICA_SET_COMMANDS: readonly Command[] = [replSetGetStatus, replSetGetConfig, replSetInitiate, appendOplogNote];
