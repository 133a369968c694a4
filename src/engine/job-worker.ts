// The program of the tree worker: a thread that merges, compresses and checksums for every environment of this process. It has no files and no
// state between merges; when it dies nothing is lost but time (law 19).

import { loadCodecs, serveChannels } from '../env/index.ts';
import { serveMerges } from './tree/job/merge-server.ts';
import type { UpdateFunctions, UpdateTable } from './types.ts';

const codecs = await loadCodecs();

/** The functions that an environment's owner has written: loaded when the first update is met, since most never meet one. */
async function loadUpdates(module: string): Promise<UpdateFunctions> {
  // eslint-disable-next-line frond/no-unsafe-assertion -- the environment's owner names the module and exports the table
  const { updateTable } = (await import(module)) as { readonly updateTable: UpdateTable };
  return updateTable.functions;
}

serveChannels((channel) => {
  serveMerges(channel, codecs, loadUpdates);
});
