// What others may start of the program: a whole server, put together.

export { RunningServer } from './running-server.ts';
export type { ServerEvents } from './running-server.ts';
