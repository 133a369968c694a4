// The public face of the commands: a dispatcher over a catalog.

export { CommandDispatcher } from './command-dispatcher.ts';
export type { CommandDispatcherOptions } from './command-dispatcher.ts';
export { streamStageNames } from './change-stream/open-stream.ts';
export { commandNames } from './command-table.ts';
export type { EngineReport } from './engine-report.ts';
export { openCommandServer } from './open-command-server.ts';
export type { CommandServerParts } from './open-command-server.ts';
export type { ServerOptions } from './server-state.ts';
