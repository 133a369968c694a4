// The public face of servers in this process.

export { MongoMemoryReplSet } from './memory-repl-set.ts';
export type { MemoryReplSetOptions, MemoryReplSetStorage } from './memory-repl-set.ts';
export { MongoMemoryServer } from './memory-server.ts';
export type { MemoryAuth, MemoryInstance, MemoryInstanceInfo, MemoryServerOptions, MemoryServerState, MemoryUser } from './memory-server.ts';
export { start } from './start.ts';
export type { InProcessServer, StartOptions } from './start.ts';
