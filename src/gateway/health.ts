// Whether the gateway and what is behind it answer, for those who watch over it: 200, or 503 where the storage does not answer reads.

import type { Exchange } from './exchange.ts';
import { currentCounters } from './gateway-parts.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** GET /healthz. */
export async function answerHealth(parts: GatewayParts, exchange: Exchange): Promise<void> {
  await parts.store.ping();
  exchange.sendJson(200, {}, JSON.stringify({ status: 'ok', ...currentCounters(parts) }));
}
