// `$collStats`: counts, sizes and times of one collection. Follows the manual's page "$collStats (aggregation)".

import { CommandError } from '../../../base/errors.ts';
import { DateTime, Document, BsonArray, type Value } from '../../../bson/index.ts';
import type { Collection } from '../../../catalog/index.ts';
import { boundedField, objectField, parseFields, strictBoolField, type FieldTable } from '../../fields.ts';
import type { TopEntry, Usage } from '../../monitor/operation-monitor.ts';
import { collectionFigures } from '../../schema/statistics.ts';
import { hostText, targetOf, type SystemStage, type SystemStageInput } from './system-stage.ts';

const FIELDS = {
  latencyStats: objectField,
  storageStats: objectField,
  count: objectField,
  queryExecStats: objectField,
  operationStats: objectField,
} satisfies FieldTable;

const LATENCY_FIELDS = { histograms: { ...strictBoolField, nullIsWrong: true } } satisfies FieldTable;
const STORAGE_FIELDS = { scale: boundedField(1), verbose: strictBoolField, waitForLock: strictBoolField, numericOnly: strictBoolField } satisfies FieldTable;
const SCALE_MAX = 0x7fffffff;

/** Of fields that were given twice the last counts, of those that are not null. */
function lastOfEach(specification: Document): Document {
  const given = specification.fields.filter(([, value]) => value !== null);
  return Document.fromEntries([...new Map(specification.fields), ...new Map(given)].filter(([name], at, all) => all.findLastIndex(([other]) => other === name) === at));
}

/** Times of operations on one collection, by kind. */
function latencyStats(asked: Document, usage: TopEntry | undefined): Document {
  const { histograms } = parseFields('$collStats.latencyStats', asked, LATENCY_FIELDS, 'skip');
  const row = (...kinds: readonly (Usage | undefined)[]): Document => {
    const sum = (of: 'time' | 'count'): bigint => BigInt(kinds.reduce((total, kind) => total + (kind?.[of] ?? 0), 0));
    const fields: [string, Value][] = [
      ['latency', sum('time')],
      ['ops', sum('count')],
      ['queryableEncryptionLatencyMicros', 0n],
    ];
    if (histograms === true) fields.unshift(['histogram', BsonArray.empty]);
    return Document.fromEntries(fields);
  };
  return Document.of({ reads: row(usage?.queries, usage?.getmore), writes: row(usage?.insert, usage?.update, usage?.remove), commands: row(usage?.commands), transactions: row() });
}

/** The collection that figures are asked of: a view has none (166), and what is not there neither (26). */
function collectionOf(input: SystemStageInput): Collection {
  const { ns, entry } = targetOf(input, '$collStats');
  if (entry?.kind === 'view') throw new CommandError(166, 'CommandNotSupportedOnView', `Namespace ${ns.text} is a view, not a collection`);
  if (entry === undefined) throw new CommandError(26, 'NamespaceNotFound', `Collection [${ns.text}] not found.`);
  return entry;
}

function checkEmpty(option: Document | undefined, name: string): void {
  if (option === undefined || option.isEmpty) return;
  throw new CommandError(31170, 'Location31170', `${name} argument must be an empty object, but got: a document with fields`);
}

export const collStats: SystemStage = (input) => {
  const { ns } = targetOf(input, '$collStats');
  const asked = parseFields('$collStats', lastOfEach(input.specification), FIELDS);
  checkEmpty(asked.count, 'count');
  checkEmpty(asked.queryExecStats, 'queryExecStats');
  if (input.context.generic.apiStrict && (asked.latencyStats !== undefined || asked.storageStats !== undefined || asked.queryExecStats !== undefined)) {
    throw new CommandError(323, 'APIStrictError', "only the 'count' option of $collStats is allowed with 'apiStrict: true' in API Version 1");
  }
  const fields: [string, Value][] = [
    ['ns', ns.text],
    ['host', hostText(input.context)],
    ['localTime', new DateTime(input.context.server.env.clock.nowMs())],
  ];
  if (asked.latencyStats !== undefined) fields.push(['latencyStats', latencyStats(asked.latencyStats, input.context.server.monitor.usageOf(ns.text))]);
  if (asked.storageStats !== undefined) {
    const { scale } = parseFields('$collStats.storageStats', lastOfEach(asked.storageStats), STORAGE_FIELDS, 'skip');
    const collection = collectionOf(input);
    const figures = collectionFigures(ns.text, collection, collection.totals(input.txn), Math.min(scale ?? 1, SCALE_MAX));
    const shown = Object.entries(figures).filter((field): field is [string, Value] => field[0] !== 'ns' && field[1] !== undefined);
    fields.push(['storageStats', Document.fromEntries(shown)]);
  }
  if (asked.count !== undefined) fields.push(['count', collectionOf(input).totals(input.txn).rows]);
  if (asked.queryExecStats !== undefined) {
    collectionOf(input);
    fields.push(['queryExecStats', Document.of({ collectionScans: Document.of({ total: 0n, nonTailable: 0n }) })]);
  }
  return [Document.fromEntries(fields)];
};
