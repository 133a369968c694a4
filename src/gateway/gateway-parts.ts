// What all answers of one gateway share: the store, the clock, limits, counters and where faults are told.

import type { Clock, Random } from '../env/index.ts';
import type { FileStore } from '../gridfs/index.ts';
import type { ReadLevels, ServerStatus } from './server-status.ts';
import type { Patrol, Patrolled } from './patrol.ts';
import type { AccessControl } from './access.ts';
import type { ActiveUploads } from './active-uploads.ts';
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
  /** The head of a request must have come in so long. */
  readonly headMs: number;
  /** Longest upload. */
  readonly uploadBytesMax: number;
  /** Uploads that one client sends at a time. */
  readonly uploadsPerClientMax: number;
  /** How long a resumable upload is kept after its last byte came. */
  readonly resumableMs: number;
  /** Bytes read ahead for one answer; a larger chunk is read by itself. */
  readonly windowBytes: number;
  /** Bytes that all answers together read ahead; beyond it each reads one piece at a time. */
  readonly heldBytesMax: number;
  /** A client that has not taken a piece for so long has what was read ahead for it given back. */
  readonly letGoMs: number;
  /** How long answers under way may take when the gateway closes. */
  readonly closeGraceMs: number;
}

export const limitsDefault: GatewayLimits = { stallMs: 120_000, headMs: 60_000, uploadBytesMax: 2 ** 40, uploadsPerClientMax: 100, resumableMs: 24 * 3_600_000, windowBytes: 512 * 1024, heldBytesMax: 64 * 1024 * 1024, letGoMs: 1000, closeGraceMs: 2000 };

/** What is counted since the start. */
export interface GatewayCounters {
  requests: number;
  bytesSent: number;
  aborts: number;
  corruptFiles: number;
}

/** What is going on now. */
export interface GatewayGauges {
  readonly openStreams: number;
  /** Uploads that are being received. */
  readonly openUploads: number;
  /** Bytes read for clients and not taken by them yet. */
  readonly heldBytes: number;
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
  readonly streams: Patrol<Patrolled>;
  readonly uploads: ActiveUploads;
  /** What the server behind counts; undefined where it is not ours to know. */
  readonly status: (() => Promise<ServerStatus>) | undefined;
  /** The levels of a tree of that server; as `status`. */
  readonly levels: ReadLevels | undefined;
  readonly access: AccessControl;
  /** Origins whose pages may read; with any, files may be shown on pages elsewhere. */
  readonly origins: readonly string[];
  readonly onEvent: (event: GatewayEvent) => void;
}

/** Counters and gauges together. */
export function currentCounters({ counters, streams, pieces, uploads }: GatewayParts): GatewayCounters & GatewayGauges {
  return { ...counters, openStreams: streams.size, openUploads: uploads.size, heldBytes: pieces.heldBytes };
}

/** Random letters for request ids and boundaries. */
export function randomToken(random: Random, bytes: number): string {
  return Array.from(random.bytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
