// The public face of the gateway: HTTP over GridFS buckets, with a page. See gateway.ts.

export type { AccessRules, AccessToken, Caller, Right } from './access.ts';
export { Gateway } from './gateway.ts';
export type { GatewayOptions } from './gateway.ts';
export type { GatewayCounters, GatewayEvent, GatewayLimits } from './gateway-parts.ts';
export type { ReadLevels, ServerStatus, TreeLevel, TreeStatus } from './server-status.ts';
export { loadPageFiles } from './page/page-files.ts';
export type { PageFile, PageFiles } from './page/page-files.ts';
export { isLoopback } from './same-origin.ts';
