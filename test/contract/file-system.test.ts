// Every FileSystem keeps the same contract: real files, memory, simulator.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryFiles, openHostEnv } from '../../src/env/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { fileSystemContract } from './file-system.ts';

fileSystemContract('host files', async (scenario) => {
  const root = await mkdtemp(join(tmpdir(), 'frond-files-'));
  try {
    await scenario((await openHostEnv()).files, root);
  } finally {
    await rm(root, { recursive: true });
  }
});

fileSystemContract('memory files', async (scenario) => {
  const files = new MemoryFiles({ capacityBytes: 2 ** 30, pid: 1 });
  await files.makeDirectory('/data');
  await scenario(files, '/data');
});

for (const seed of [1, 2, 3]) {
  fileSystemContract(`simulated files, seed ${String(seed)}`, async (scenario) => {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      await sim.files.makeDirectory('/data');
      await scenario(sim.files, '/data');
    });
  });
}
