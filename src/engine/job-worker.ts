// The program of the tree worker: a thread that merges, compresses and checksums for every environment of this process. It has no files and no
// state between merges; when it dies nothing is lost but time (law 19).

import { loadCodecs, serveChannels } from '../env/index.ts';
import { serveMerges } from './tree/job/merge-server.ts';

const codecs = await loadCodecs();
serveChannels((channel) => {
  serveMerges(channel, codecs);
});
