// What all answers of one gateway share: the store, the clock, limits, counters and where faults are told.

import type { Clock, Random } from '../env/index.ts';
import type { FileStore } from '../gridfs/index.ts';
import type { PiecePool } from './piece-pool.ts';
import type { PageFiles } from './page/page-files.ts';

/** Something that an operator should know. Never has file contents or secrets. */
export interface GatewayEvent {
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}

/** Limits and habits of a gateway; see gateway.md, section 3. */
export interface GatewayLimits {
  /** Without a byte moving for so long a connection is cut; players pause by not reading, so it is generous. 0: never. */
  readonly stallMs: number;
  /** Longest upload. */
  readonly uploadBytesMax: number;
  /** Bytes read ahead for one answer; a larger chunk is read by itself. */
  readonly windowBytes: number;
  /** How long answers under way may take when the gateway closes. */
  readonly closeGraceMs: number;
}

export const limitsDefault: GatewayLimits = { stallMs: 120_000, uploadBytesMax: 2 ** 40, windowBytes: 512 * 1024, closeGraceMs: 2000 };

/** What is counted since the start; `openStreams` is now. */
export interface GatewayCounters {
  requests: number;
  openStreams: number;
  bytesSent: number;
  aborts: number;
  corruptFiles: number;
}

/** Parts of one gateway. */
export interface GatewayParts {
  readonly store: FileStore;
  readonly dbDefault: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  readonly page: PageFiles;
  readonly pieces: PiecePool;
  readonly onEvent: (event: GatewayEvent) => void;
}

/** Random letters for request ids and boundaries. */
export function randomToken(random: Random, bytes: number): string {
  return Array.from(random.bytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
