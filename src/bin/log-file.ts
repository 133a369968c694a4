// Where the log goes: a file that grows by whole lines and can be given another place (logRotate), or, without one, warnings and errors to
// stderr. Writing never fails the server: a log on a full disk loses lines, not data.

import { appendFileSync, renameSync } from 'node:fs';
import type { LogSink } from '../session/index.ts';

/** The end of the log. */
export interface LogEnd {
  readonly sink: LogSink;
  /** Puts the file aside under a name with the time, or goes on where somebody else has. */
  readonly rotate: (at: string) => void;
}

/** Opens the end of the log: `path`, or stderr. */
export function openLogEnd(path: string | undefined): LogEnd {
  if (path === undefined) {
    return {
      sink: (line, severity) => {
        if (severity === 'W' || severity === 'E' || severity === 'F') console.error(line);
      },
      rotate: () => undefined,
    };
  }
  // Opened for each line, so that a file that was put aside is not written to any more. Lines are few: slow commands, logins, errors.
  return {
    sink: (line) => {
      try {
        appendFileSync(path, `${line}\n`, { mode: 0o600 });
      } catch {
        // Nobody can be told, and the server is worth more than its log.
        return;
      }
    },
    rotate: (at) => {
      renameSync(path, `${path}.${at}`);
    },
  };
}
