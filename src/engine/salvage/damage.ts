// What a reader of a damaged directory met: one thing that could not be read, where it lies, and which keys it costs.

import { EngineError } from '../../base/errors.ts';

/** One thing that was lost. Keys are as the engine has them; absent bounds are open. */
export interface Damage {
  readonly message: string;
  readonly file?: string;
  readonly offset?: number;
  readonly dictionary?: number;
  readonly fromKey?: Uint8Array;
  readonly toKey?: Uint8Array;
}

/** Called for each damage, as it is met. */
export type DamageSink = (damage: Damage) => void;

/** Whether an error says that bytes on the disk are not what they should be, or cannot be had: what salvage steps over. */
export function isDamage(error: unknown): error is EngineError {
  return error instanceof EngineError && (error.code === 'corruption' || error.code === 'io' || error.code === 'format');
}

/** An error in the words of a damage. */
export function damageOf(error: EngineError, lost: Omit<Damage, 'message'> & { readonly message?: string } = {}): Damage {
  const { file, offset } = error.place;
  return {
    ...(file === undefined ? {} : { file }),
    ...(offset === undefined ? {} : { offset }),
    ...lost,
    message: lost.message === undefined ? error.message : `${lost.message}: ${error.message}`,
  };
}
