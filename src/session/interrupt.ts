// Why an operation may be told to stop before its end, and what its client is told then.

import { CommandError } from '../base/errors.ts';

/** Why an operation was told to stop. */
export type InterruptReason = 'killed' | 'client-gone' | 'shutdown' | 'cursor-killed' | 'session-killed';

const INTERRUPTS: Readonly<Record<InterruptReason, readonly [number, string, string]>> = {
  killed: [11601, 'Interrupted', 'operation was interrupted'],
  'client-gone': [279, 'ClientDisconnect', 'operation was interrupted because a client disconnected'],
  shutdown: [11600, 'InterruptedAtShutdown', 'interrupted at shutdown'],
  'cursor-killed': [237, 'CursorKilled', 'cursor killed'],
  'session-killed': [11601, 'Interrupted', 'operation was interrupted because its session was killed'],
};

/** The error for which an operation stops. */
export function interruptError(reason: InterruptReason): CommandError {
  const [code, name, text] = INTERRUPTS[reason];
  return new CommandError(code, name, text);
}

/** Something that can be told to stop. */
export interface Interruptible {
  interrupt(reason: InterruptReason): void;
}
