import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashImages, judge } from './crash-history.ts';

const seeds = Number(process.env['FROND_CRASH_SEEDS'] ?? '4');
const first = Number(process.env['FROND_SEED'] ?? '1');
const stride = Number(process.env['FROND_STRIDE'] ?? '12');

void test('a power failure at any I/O leaves exactly the commits up to some seq, every acknowledged one among them', async () => {
  let points = 0;
  for (let seed = first; seed < first + seeds; seed++) {
    const { ledger, images } = await crashImages(seed, 60, stride);
    for (const image of images) {
      try {
        await judge(ledger, image);
      } catch (error) {
        throw new Error(`seed ${seed}, operation ${image.operation}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
      }
    }
    points += images.length;
  }
  console.log(`# crash points ${points} from seeds ${first} to ${first + seeds - 1}`);
  assert.ok(points > seeds);
});
