// The public face of the package: `import { start } from 'fronddb'`. The bare storage engine is `fronddb/engine`.

export { MongoMemoryReplSet, MongoMemoryServer, start } from './in-process/index.ts';
export type {
  InProcessServer,
  MemoryAuth,
  MemoryInstance,
  MemoryInstanceInfo,
  MemoryReplSetOptions,
  MemoryReplSetStorage,
  MemoryServerOptions,
  MemoryServerState,
  MemoryUser,
  StartOptions,
} from './in-process/index.ts';
