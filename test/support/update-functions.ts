// Update functions of the engine's tests: a counter, one that grows a value and cuts it, one that removes, and what they are known by. What is not there
// counts as nothing.

import type { UpdateFunction, UpdateTable } from '../../src/engine/index.ts';

const nothing = new Uint8Array(0);

/** Adds the argument, byte by byte with carry, to a value of four bytes, little endian; of another length it is left as it is. */
const add: UpdateFunction = {
  apply: (value, argument) => {
    if (value !== undefined && value.length !== 4) return value;
    const sum = Uint8Array.from(value ?? [0, 0, 0, 0]);
    let carry = 0;
    for (let i = 0; i < 4; i++) {
      carry += (sum[i] as number) + (argument[i] ?? 0);
      sum[i] = carry & 0xff;
      carry >>>= 8;
    }
    return sum;
  },
  takes: (argument) => argument.length === 4,
};

/** Puts the argument behind the value and keeps the last twenty bytes: the order of two of them can be told. */
const append: UpdateFunction = {
  apply: (value, argument) => Uint8Array.from([...(value ?? nothing), ...argument]).slice(-20),
  takes: () => true,
};

/** Removes a value that is longer than the argument says, and makes no value of none. */
const cap: UpdateFunction = {
  apply: (value, argument) => (value === undefined || value.length > (argument[0] ?? 0) ? undefined : value),
  takes: (argument) => argument.length === 1,
};

/** Numbers of the functions. */
export const testFunctions = { add: 1, append: 7, cap: 300 } as const;

/** The table. */
export const updateTable: UpdateTable = {
  functions: new Map([[testFunctions.add, add], [testFunctions.append, append], [testFunctions.cap, cap]]),
  module: import.meta.url,
};
