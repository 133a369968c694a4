// A data directory by its names: made durably, opened, told from one that somebody left unfinished. A backup or a salvage gives its data file another
// name until everything is there, so that what was cut off opens as nothing; and a directory whose data file is gone is not taken for a new one.

import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { CheckpointRoot } from '../block/block-number.ts';
import { BlockStore } from '../block/block-store.ts';
import { listSegments } from '../wal/segment.ts';

const dataFile = 'data.frond';
/** The data file has this name until everything is there. */
export const unfinishedDataFile = 'data.frond.part';

/**
 * Makes the directory and its missing parents, each durably in its own parent (law 24). Those that are there may have been made by a process that ended
 * before it synced their names, so until the data file is there every name on the way is synced.
 */
export async function makeDurableDirectory(env: Env, path: string): Promise<void> {
  if (await env.files.exists(`${path}/${dataFile}`)) return;
  for (let at = path; parentOf(at) !== at; at = parentOf(at)) {
    const wasThere = await env.files.exists(at);
    if (!wasThere) await env.files.makeDirectory(at);
    await env.files.syncDirectory(parentOf(at)).catch((cause: unknown) => {
      // A parent that may be passed and not read: its names were not made here.
      if (!wasThere || !(cause instanceof EngineError && cause.code === 'io')) throw cause;
    });
  }
}

function parentOf(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  const slash = trimmed.lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : trimmed.slice(0, slash);
}

/** Opens the data file of a directory, or makes it in one without data: under the name of an unfinished one if that is wanted. */
export async function openStore(env: Env, path: string, unfinished: boolean): Promise<{ store: BlockStore; root: CheckpointRoot | undefined }> {
  const file = `${path}/${dataFile}`;
  const part = `${path}/${unfinishedDataFile}`;
  if (await env.files.exists(part)) throw new EngineError('corruption', `${path} holds a backup or a salvage that was cut off`, { place: { file: part } });
  if (await env.files.exists(file)) {
    if (unfinished) throw new EngineError('io', `${path} holds data already`, { place: { file } });
    return await BlockStore.open(env, file);
  }
  // The data file is there, durably, before the first segment is made.
  const log = `${path}/log`;
  if ((await env.files.exists(log)) && (await listSegments(env, log)).length > 0) throw new EngineError('corruption', `${path} has a log, and its data file is gone`, { place: { file } });
  return { store: await BlockStore.create(env, unfinished ? part : file), root: undefined };
}

/** Gives the data file of a directory that was opened as an unfinished one, and is closed, its name, durably. */
export async function finishDirectory(env: Env, path: string): Promise<void> {
  await env.files.rename(`${path}/${unfinishedDataFile}`, `${path}/${dataFile}`);
  await env.files.syncDirectory(path);
}
