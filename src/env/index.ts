// The public face of the outside world: see env.ts, file-system.ts and codec.ts for the contracts.

export type { Clock, Env, Host, Random, Step, StepResult, Tasks } from './env.ts';
export type { DirectoryLock, DiskSpace, File, FileSystem, OpenMode, OpenOptions } from './file-system.ts';
export type { Codec, CodecName, Codecs } from './codec.ts';
export type { Network, NetworkAddress, NetworkListener, NetworkPeer } from './network.ts';
export type { ServedChannel, WorkerChannel } from './worker-thread.ts';
export { serveChannels } from './worker-thread.ts';
export { openHostEnv, openMemoryEnv } from './host-env.ts';
export { inSlices } from './in-slices.ts';
export type { Paced } from './in-slices.ts';
export { MemoryFiles } from './memory-files.ts';
export { openHostNetwork } from './network.ts';
export { bytesPassed, giveBack, watchGarbage } from './garbage.ts';
export type { CertificateSubject, TlsSettings } from './tls.ts';

// For other file systems and environments: the simulator of the tests is built from these.
export { closedError, lockedError, pathError } from './file-errors.ts';
export { FileTree, normalPath } from './file-tree.ts';
export { loadCodecs } from './codec-table.ts';
export { PagedBytes } from './paged-bytes.ts';
export { readWholeFile, replaceWholeFile } from './whole-file.ts';
