// The public face of the server: an address at which connections are taken and served by a dispatcher.

export type { Dispatcher } from './dispatcher.ts';
export { Listener } from './listener.ts';
export type { ListenerOptions } from './listener.ts';
