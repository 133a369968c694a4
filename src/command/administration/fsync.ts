// fsync, fsyncUnlock and setUserWriteBlockMode: a checkpoint now, and whether clients may write. What was acknowledged is on disk without any
// of them.

import { CommandError } from '../../base/errors.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, boolField, required, strictBoolField, typedField, wordField, type Field } from '../fields.ts';
import type { BlockReason } from '../monitor/write-gate.ts';

/** How long to wait for writes that are under way when nothing is said. */
const ACQUIRE_MS = 90_000;

const POLL_MS = 5;

const intField: Field<number> = typedField(['int'], (value) => typeof value === 'number');

/** Closes the gate, then waits for the writes that have passed it. */
async function lock({ server, operation }: CommandContext, timeoutMs: number): Promise<number> {
  const locks = server.gate.lock();
  const deadline = server.env.clock.monotonicMs() + timeoutMs;
  try {
    for (;;) {
      operation.checkInterrupt();
      const writing = [...server.operations.values()].some((other) => other.writes && !other.waitingForLock && other.id < operation.id);
      if (!writing) return locks;
      if (server.env.clock.monotonicMs() >= deadline) throw new CommandError(262, 'ExceededTimeLimit', 'Fsync lock timed out');
      await operation.sleep(POLL_MS);
    }
  } catch (error) {
    server.gate.unlock();
    throw error;
  }
}

const fsync: Command = defineCommand({
  name: 'fsync',
  access: 'admin',
  adminOnly: true,
  about: 'writes a checkpoint; with lock it makes writers wait',
  fields: { fsync: anyField, lock: boolField, fsyncLockAcquisitionTimeoutMillis: intField },
  run: async (context, { lock: locks, fsyncLockAcquisitionTimeoutMillis: timeoutMs = ACQUIRE_MS }) => {
    const { server } = context;
    if (locks !== true) {
      await server.engine.checkpoint();
      return { numFiles: 1 };
    }
    const count = await lock(context, Math.max(0, timeoutMs));
    await server.engine.checkpoint();
    server.log.write({ severity: 'I', component: 'COMMAND', id: 20469, message: 'mongod is locked and no writes are allowed' }, { lockCount: count });
    return {
      info: 'now locked against writes, use db.fsyncUnlock() to unlock',
      lockCount: BigInt(count),
      seeAlso: 'http://dochub.mongodb.org/core/fsynccommand',
    };
  },
});

const fsyncUnlock: Command = defineCommand({
  name: 'fsyncUnlock',
  access: 'admin',
  adminOnly: true,
  about: 'takes back one fsync with lock',
  fields: { fsyncUnlock: anyField },
  lax: true,
  run: ({ server }) => {
    const left = server.gate.unlock();
    return Promise.resolve({ info: 'fsyncUnlock completed', lockCount: BigInt(left) });
  },
});

const setUserWriteBlockMode: Command = defineCommand({
  name: 'setUserWriteBlockMode',
  access: 'admin',
  adminOnly: true,
  about: 'refuses writes of users, or takes them again',
  fields: {
    setUserWriteBlockMode: anyField,
    global: required(strictBoolField),
    reason: wordField<BlockReason>(['Unspecified', 'ClusterToClusterMigrationInProgress', 'DiskUseThresholdExceeded']),
  },
  run: ({ server }, { global, reason = 'Unspecified' }) => {
    const { blocked } = server.gate;
    if (blocked !== undefined && blocked !== reason) {
      throw new CommandError(20, 'IllegalOperation', `Cannot ${global ? 'enable' : 'disable'} user write block mode with reason ${reason}: it was enabled with reason ${blocked}`);
    }
    server.gate.block(global ? reason : undefined);
    return Promise.resolve({});
  },
});

export const FSYNC_COMMANDS: readonly Command[] = [fsync, fsyncUnlock, setUserWriteBlockMode];
