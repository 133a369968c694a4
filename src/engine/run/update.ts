// Updates: messages that change the value of a key by a function whose result nobody needs to know when it is written (law 13). The engine knows
// bytes only: functions are given when an environment is opened, pure and total, and files name them by a number that never changes. A message
// holds operations, oldest first: (varint number, varint length, argument) each. A number that nobody gave is EngineError `format`.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { EngineError } from '../../base/errors.ts';
import type { UpdateFunctions } from '../types.ts';

/** Where a merge finds the functions; on another thread they come when the first update does. */
export interface UpdateSource {
  functions: UpdateFunctions | undefined;
}

/** So many updates of one key wait in one place at most: then the writer reads, and puts the result. */
export const chainMax = 64;

/** Operations of one message that are longer are applied at once. */
export const operationBytesMax: number = 256 * 1024;

/** A larger value is not copied for each update of it. */
export const foldedBytesMax = 2048;

function functionOf(functions: UpdateFunctions, number: number): NonNullable<ReturnType<UpdateFunctions['get']>> {
  const found = functions.get(number);
  if (found === undefined) throw new EngineError('format', `an update by function ${String(number)}, which this program does not know`);
  return found;
}

/** One operation as a message holds it, checked: `format` for a function that is not known or an argument that it does not take. */
export function operationOf(functions: UpdateFunctions, number: number, argument: Uint8Array): Uint8Array {
  if (!functionOf(functions, number).takes(argument)) throw new EngineError('format', `update function ${String(number)} does not take this argument`);
  const writer = new ByteWriter(argument.length + 8);
  writer.varint(number);
  writer.varint(argument.length);
  writer.append(argument);
  return writer.bytes().slice();
}

/** The value after the operations; undefined is no value. */
export function applyOperations(functions: UpdateFunctions, value: Uint8Array | undefined, operations: Uint8Array): Uint8Array | undefined {
  const reader = new ByteReader(operations);
  let result = value;
  while (reader.remaining > 0) {
    const { apply } = functionOf(functions, reader.varint());
    const length = reader.varint();
    const start = reader.skip(length);
    result = apply(result, operations.subarray(start, start + length));
  }
  return result;
}

/** The value after several messages, newest first. */
export function applyChain(functions: UpdateFunctions, value: Uint8Array | undefined, newestFirst: readonly Uint8Array[]): Uint8Array | undefined {
  let result = value;
  for (let i = newestFirst.length - 1; i >= 0; i--) result = applyOperations(functions, result, newestFirst[i] as Uint8Array);
  return result;
}

/** How many operations there are; `format` when one of them is not known. */
export function countOperations(functions: UpdateFunctions, operations: Uint8Array): number {
  const reader = new ByteReader(operations);
  let count = 0;
  for (; reader.remaining > 0; count++) {
    functionOf(functions, reader.varint());
    reader.skip(reader.varint());
  }
  return count;
}
