// The redo log as it is found: every group that validates, wherever it stands. Where opening stops at damage (law 21), salvage goes on
// behind it and says which records are lost.

import type { Env } from '../../env/index.ts';
import type { CheckpointRoot } from '../block/block-number.ts';
import type { GroupHeader } from '../wal/group.ts';
import { groupBytes, groupHeader, groupUnit, isGroup, recordsOf } from '../wal/group.ts';
import type { SegmentFile } from '../wal/segment.ts';
import { listSegments } from '../wal/segment.ts';
import { damageOf, isDamage } from './damage.ts';
import type { DamageSink } from './damage.ts';

/** A group that validates. */
export interface FoundGroup {
  readonly segment: SegmentFile;
  readonly offset: number;
  readonly header: GroupHeader;
}

/** Told what the log holds. */
export interface FoundLogVisitor {
  group?(group: FoundGroup): void;
  /** Records in order of seqs, each once. */
  record?(seq: number, body: Uint8Array): void;
}

/** Which records are wanted, first and last: what the checkpoint has not, and what was durable when it was made. */
export interface WantedRecords {
  readonly from: number;
  readonly upTo: number;
}

/** The records that a checkpoint wants of the log; none before the first. */
export function recordsWanted(root: CheckpointRoot | undefined): WantedRecords {
  return root === undefined ? { from: 1, upTo: 0 } : { from: root.logFrom.seq, upTo: root.nextSeq - 1 };
}

/** Reads all segments in order of their numbers; records below the first that is wanted are not given. Those that are wanted and not there are lost. */
export async function readFoundLog(env: Env, directory: string, { from, upTo }: WantedRecords, view: { readonly visit: FoundLogVisitor; readonly report: DamageSink }): Promise<void> {
  const { visit, report } = view;
  let lastSeq = from - 1;
  for (const segment of await segmentsOf(env, directory, report)) {
    for (const group of await groupsOf(env, segment, report)) {
      visit.group?.(group);
      const { header, bytes, offset } = group;
      if (header.firstSeq > lastSeq + 1) report({ message: `records ${lastSeq + 1} to ${header.firstSeq - 1} of the log are lost`, file: segment.path, offset });
      for (const { seq, body } of recordsOf(bytes.subarray(offset), header, { file: segment.path, offset })) {
        if (seq <= lastSeq) continue;
        visit.record?.(seq, body);
        lastSeq = seq;
      }
    }
  }
  if (lastSeq < upTo) report({ message: `records ${lastSeq + 1} to ${upTo} of the log are lost`, file: directory });
}

async function segmentsOf(env: Env, directory: string, report: DamageSink): Promise<SegmentFile[]> {
  try {
    return (await env.files.exists(directory)) ? await listSegments(env, directory) : [];
  } catch (error) {
    if (!isDamage(error)) throw error;
    report(damageOf(error, { message: 'the log cannot be listed' }));
    return [];
  }
}

async function groupsOf(env: Env, segment: SegmentFile, report: DamageSink): Promise<(FoundGroup & { readonly bytes: Uint8Array })[]> {
  const groups: (FoundGroup & { readonly bytes: Uint8Array })[] = [];
  const broken: number[] = [];
  let bytes: Uint8Array;
  try {
    bytes = await env.files.readAll(segment.path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    report(damageOf(error, { message: 'a segment of the log cannot be read' }));
    return groups;
  }
  for (let at = 0; at < bytes.length; ) {
    const view = bytes.subarray(at);
    const header = groupHeader(view);
    if (header !== undefined && isGroup(view, header, segment.number)) {
      groups.push({ segment, offset: at, header, bytes });
      at += groupBytes(header.payloadBytes);
    } else {
      if (header?.segment === segment.number) broken.push(at);
      at += groupUnit;
    }
  }
  for (const offset of broken) report({ message: 'a group of the log is not whole: torn by a crash, or damaged', file: segment.path, offset });
  return groups;
}
