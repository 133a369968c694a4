// Addresses to give out: POST asks for one that shows a file to whoever has it, until its time is over.

import type { Exchange } from './exchange.ts';
import { findFile } from './file-answer.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { basePath, filePath } from './route.ts';
import type { Route } from './route.ts';

const secondsDefault = 3600;

/** POST: `?seconds=`, an hour if it is not said. */
export async function answerLink(parts: GatewayParts, exchange: Exchange, route: Route): Promise<void> {
  const file = await findFile(parts.store.bucket(route.db, route.bucket), route);
  const { query, expiresMs } = parts.access.sign({ ...route, name: file.id.text }, Number(route.query.get('seconds') ?? secondsDefault));
  const url = `${filePath(basePath(route.db, parts.dbDefault), route.bucket, file.id.text)}?${query}`;
  exchange.sendJson(201, { Location: url }, JSON.stringify({ url, expires: new Date(expiresMs).toISOString() }));
}
