// Counters that connections and commands share, for serverStatus and the status page. Each is added to by the one who counts.

/** What serverStatus calls opcounters. */
export interface OperationCounts {
  insert: number;
  query: number;
  update: number;
  delete: number;
  getmore: number;
  command: number;
}

/** Counters since the server started. */
export class ServerCounters {
  connectionsCurrent = 0;
  connectionsCreated = 0;
  connectionsRejected = 0;
  connectionsMax: number;
  bytesIn = 0;
  bytesOut = 0;
  /** Bytes of replies that their clients have not taken yet. */
  unsentBytes = 0;
  /** Batches of cursors that are being gathered. */
  batchesUnderWay = 0;
  requests = 0;
  /** Updates that asked to be written without a read, and those that were. */
  readonly fastUpdates: { eligible: number; performed: number } = { eligible: 0, performed: 0 };
  readonly operations: OperationCounts = { insert: 0, query: 0, update: 0, delete: 0, getmore: 0, command: 0 };
  transactionsStarted = 0;
  transactionsCommitted = 0;
  transactionsAborted = 0;
  retriedStatements = 0;

  constructor(connectionsMax: number) {
    this.connectionsMax = connectionsMax;
  }
}
