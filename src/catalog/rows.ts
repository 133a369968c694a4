// Reading a range of a dictionary to its end, batch by batch.

import type { Cursor } from '../engine/index.ts';

const scanLimit = { rows: 256, bytes: 1 << 20 };

/** Calls `visit` for each row of a cursor, and closes it. Keys and values are the batch's: copy what is kept. */
export async function eachRow(cursor: Cursor, visit: (key: Uint8Array, value: Uint8Array) => void): Promise<void> {
  try {
    for (;;) {
      const batch = await cursor.nextBatch(scanLimit);
      if (batch.length === 0) return;
      for (let i = 0; i < batch.length; i++) visit(batch.key(i), batch.value(i));
    }
  } finally {
    cursor.close();
  }
}
