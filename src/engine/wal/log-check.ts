// Reading the log of an open environment once more, beside its writer: every group that a recovery might want must be whole (law 21). Nothing is lost
// yet where one is not, for the fronts still have what it says; but the next start would refuse it. Segments that are recycled meanwhile are no
// damage: whatever was met in them is forgotten.

import type { Env, File } from '../../env/index.ts';
import { EngineError } from '../../base/errors.ts';
import type { VerifyProblem } from '../types.ts';
import { groupBytes, groupHeader, groupUnit, isGroup } from './group.ts';
import type { GroupHeader } from './group.ts';
import type { WrittenSegment } from './segment.ts';

/** What a log says of its segments. */
export interface WrittenLog {
  readonly written: readonly WrittenSegment[];
}

const windowBytes = 1024 * 1024;

/** Every damage of the log as it is now. */
export async function checkLog(env: Env, log: WrittenLog): Promise<VerifyProblem[]> {
  const problems: VerifyProblem[] = [];
  for (const segment of log.written) {
    const met = await checkSegment(env, segment).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'io')) throw error;
      return [{ message: `${segment.path}: ${error.message}`, file: segment.path }];
    });
    if (met.length > 0 && log.written.some(({ number }) => number === segment.number)) problems.push(...met);
  }
  return problems;
}

async function checkSegment(env: Env, segment: WrittenSegment): Promise<VerifyProblem[]> {
  const problems: VerifyProblem[] = [];
  const file = await env.files.open(segment.path, 'read');
  try {
    const groups = new Groups(file, segment);
    let isBroken = false;
    for (let at = 0; at < segment.end; ) {
      await env.tasks.pause();
      const header = await groups.at(at);
      if (header !== undefined) at += groupBytes(header.payloadBytes);
      else {
        // What comes behind it in the same stretch is part of it.
        if (!isBroken) problems.push({ message: `${segment.path}: a group of the log is not whole; the next start would refuse it`, file: segment.path, offset: at });
        at += groupUnit;
      }
      isBroken = header === undefined;
    }
  } finally {
    await file.close();
  }
  return problems;
}

/** The groups of a segment, read in stretches. */
class Groups {
  readonly #file: File;
  readonly #segment: WrittenSegment;
  #bytes: Uint8Array = new Uint8Array(0);
  #from: number = 0;

  constructor(file: File, segment: WrittenSegment) {
    this.#file = file;
    this.#segment = segment;
  }

  /** The header of the group that begins there, if it is whole. */
  async at(offset: number): Promise<GroupHeader | undefined> {
    const header = groupHeader(await this.#view(offset, groupUnit));
    if (header?.segment !== this.#segment.number || offset + groupBytes(header.payloadBytes) > this.#segment.end) return undefined;
    return isGroup(await this.#view(offset, groupBytes(header.payloadBytes)), header, this.#segment.number) ? header : undefined;
  }

  /** At least so many bytes from `offset` on, as far as groups were written. */
  async #view(offset: number, length: number): Promise<Uint8Array> {
    const end = this.#from + this.#bytes.length;
    if (offset < this.#from || offset + length > end) {
      const target = new Uint8Array(Math.min(Math.max(length, windowBytes), this.#segment.end - offset));
      this.#bytes = target.subarray(0, await this.#file.read(target, offset));
      this.#from = offset;
    }
    return this.#bytes.subarray(offset - this.#from);
  }
}
