// Hot backup, by TokuMX's names: `backupStart` copies the data of the running server into a directory of its machine and answers when it is
// there; `backupStatus` tells how far it is.

import { CommandError, EngineError } from '../../base/errors.ts';
import { defineCommand, type Command, type Reply } from '../command.ts';
import { anyField, required, stringField } from '../fields.ts';
import type { EngineReport } from '../engine-report.ts';

/** How far the backup of an engine is. */
interface Progress {
  readonly target: string;
  bytesDone: number;
  bytesTotal: number;
}

const underWay: WeakMap<EngineReport, Progress> = new WeakMap();

const backupStart: Command = defineCommand({
  name: 'backupStart',
  access: 'admin',
  adminOnly: true,
  about: 'copies the data into an empty directory of this machine while the server goes on',
  fields: { backupStart: required(stringField) },
  run: async ({ server: { engine } }, { backupStart: target }) => await startBackup(engine, target),
});

async function startBackup(engine: EngineReport, target: string): Promise<Reply> {
  if (!target.startsWith('/')) throw new CommandError(2, 'BadValue', 'backupStart wants the absolute path of a directory');
  if (underWay.has(engine)) throw new CommandError(117, 'ConflictingOperationInProgress', 'a backup is being made already');
  const progress: Progress = { target, bytesDone: 0, bytesTotal: 0 };
  underWay.set(engine, progress);
  try {
    const { dataBytes, logBytes } = await engine.backup(target, (done, total) => {
      progress.bytesDone = done;
      progress.bytesTotal = total;
    });
    return { target, dataBytes: BigInt(dataBytes), logBytes: BigInt(logBytes) };
  } catch (error) {
    if (error instanceof EngineError && error.code === 'io') throw new CommandError(96, 'OperationFailed', error.message, { cause: error });
    throw error;
  } finally {
    underWay.delete(engine);
  }
}

const backupStatus: Command = defineCommand({
  name: 'backupStatus',
  access: 'admin',
  adminOnly: true,
  about: 'how far the backup is that is being made',
  fields: { backupStatus: anyField },
  run: ({ server: { engine } }) => {
    const progress = underWay.get(engine);
    if (progress === undefined) return Promise.resolve({ inProgress: false });
    const { target, bytesDone, bytesTotal } = progress;
    return Promise.resolve({ inProgress: true, target, bytesDone: BigInt(bytesDone), bytesTotal: BigInt(bytesTotal) });
  },
});

export const BACKUP_COMMANDS: readonly Command[] = [backupStart, backupStatus];
