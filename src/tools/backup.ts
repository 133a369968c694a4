// `frond backup`: asks a running server to copy its data.

import { ToolClient } from './client.ts';
import type { ServerPlace } from './uri.ts';

/** What the server copied, in bytes. */
export interface BackupDone {
  readonly dataBytes: number;
  readonly logBytes: number;
}

/** Has the server at `place` copy its data into `target`, an absolute path of its machine; resolves when it is there. CommandError where it refuses. */
export async function backUpServer(place: ServerPlace, target: string): Promise<BackupDone> {
  const client = await ToolClient.open(place);
  try {
    const reply = await client.command('admin', { backupStart: target });
    return { dataBytes: Number(reply.get('dataBytes')), logBytes: Number(reply.get('logBytes')) };
  } finally {
    client.close();
  }
}
