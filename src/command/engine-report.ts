// What commands tell of the engine below without knowing it: counters by name. Implemented where server and engine are put together.

import type { Document } from '../bson/index.ts';

/** The engine, as serverStatus and validate see it. */
export interface EngineReport {
  /** The section of serverStatus. */
  statistics(): Document;
  /** Writes a checkpoint. */
  checkpoint(): Promise<void>;
}
