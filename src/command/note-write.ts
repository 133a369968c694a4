// The time of a write is that of its entry in the log. Where nothing is logged it is taken here, when the write is done.

import type { ServerState } from './server-state.ts';

/** A write of this server is done. */
export function noteWrite({ catalog, time }: Pick<ServerState, 'catalog' | 'time'>): void {
  if (!catalog.oplog.isOn) time.tick();
}
