// The errors of the FileSystem contract, worded once for every implementation.

import { EngineError } from '../base/errors.ts';

/** The error of an operation on a path that cannot be done. */
export function pathError(path: string, what: string): EngineError {
  return new EngineError('io', `${path}: ${what}`, { place: { file: path } });
}

/** The error of a directory that somebody has open. */
export function lockedError(path: string, pid: number): EngineError {
  return new EngineError('locked', `${path} is in use by process ${String(pid)}`, { place: { file: path, pid } });
}

/** The error of an operation on a file that was closed. */
export function closedError(path: string): EngineError {
  return new EngineError('closed', `${path}: the file is closed`, { place: { file: path } });
}

/** Codes of the operating system that mean: no room, try again when there is. */
const noSpaceCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** What the operating system said, as an EngineError that names the file and, for reads and writes, the offset. */
export function hostError(cause: unknown, path: string, offset?: number): EngineError {
  if (cause instanceof EngineError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const place = offset === undefined ? { file: path } : { file: path, offset };
  return new EngineError(noSpaceCodes.has(code) ? 'no-space' : 'io', `${path}: ${message}`, { cause, place });
}
