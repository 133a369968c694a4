// The limit of what one stage may hold in memory. `$sort` and `$group` go on in a scratch place; other stages end with an error.
// Follows the manual's page "Aggregation Pipeline Limits".

import { refuse } from '../query/index.ts';

/** 100 MB, as in MongoDB. */
export const MEMORY_BYTES_MAX: number = 100 * 1024 * 1024;

/** The error of a stage that would hold more. */
export function outOfMemory(stage: string): Error {
  const text = `Exceeded memory limit for ${stage}, but didn't allow external sort. Pass allowDiskUse:true to opt in.`;
  return refuse(292, text);
}
