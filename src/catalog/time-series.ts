// Time series collections: measurements with a time and, where it was said so, a field that tells their sources apart. They are kept as
// plain documents by `_id` here, without buckets; what may be stored and changed is what MongoDB allows.
// Follows the manual's section "Time Series".

import { bsonType, Document, FieldName, findField, isNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { wholeOf } from './number.ts';
import { checkFields, oneOf, presentField, wrongType } from './option-check.ts';
import { badValue, invalidOptions, unknownField } from './refusal.ts';

/** What a time series is made of. */
export interface TimeSeriesOptions {
  readonly timeField: string;
  readonly metaField: string | undefined;
}

const fields: ReadonlySet<string> = new Set(['timeField', 'metaField', 'granularity', 'bucketMaxSpanSeconds', 'bucketRoundingSeconds']);
const granularities: ReadonlyMap<string, number> = new Map([
  ['seconds', 3600],
  ['minutes', 86_400],
  ['hours', 2_592_000],
]);
const spanSecondsMax = 31_536_000;

function textOf(value: Value, name: string): string {
  if (typeof value !== 'string') throw wrongType(name, value, 'string');
  return value;
}

function checkName(value: Value, name: string): string {
  const text = textOf(value, name);
  if (text.includes('\0')) throw badValue(`The '${name}' must not contain a NUL byte`);
  if (text.includes('.')) throw invalidOptions(`'${name}' must not contain dots`);
  return text;
}

function secondsOf(value: Value, name: string): number | undefined {
  if (value === null) return undefined;
  if (!isNumber(value)) throw wrongType(name, value, '[long, int, decimal, double]');
  const seconds = wholeOf(value);
  if (seconds < 1n) throw badValue(`BSON field '${name}' value must be >= 1, actual value '${String(seconds)}'`);
  if (seconds > BigInt(spanSecondsMax)) throw badValue(`BSON field '${name}' value must be <= ${String(spanSecondsMax)}, actual value '${String(seconds)}'`);
  return Number(seconds);
}

interface Bucketing {
  readonly granularity: string | undefined;
  readonly span: number | undefined;
  readonly rounding: number | undefined;
}

function bucketingOf(value: Document, name: string): Bucketing {
  const granularity = value.get('granularity') ?? null;
  const named = granularity === null ? undefined : textOf(granularity, `${name}.granularity`);
  if (named !== undefined) oneOf(...granularities.keys())(named, `${name}.granularity`);
  return {
    granularity: named,
    span: secondsOf(value.get('bucketMaxSpanSeconds') ?? null, 'bucketMaxSpanSeconds'),
    rounding: secondsOf(value.get('bucketRoundingSeconds') ?? null, 'bucketRoundingSeconds'),
  };
}

/** The fields of bucketing as they are kept: a granularity with its span, or two numbers that are equal. */
function keptBucketing({ granularity, span, rounding }: Bucketing): [string, Value][] {
  if (granularity !== undefined || (span === undefined && rounding === undefined)) {
    const name = granularity ?? 'seconds';
    const usual = granularities.get(name) ?? 0;
    if (rounding !== undefined || (span !== undefined && span !== usual)) {
      throw invalidOptions(`Timeseries 'bucketMaxSpanSeconds' must be ${String(usual)} and 'bucketRoundingSeconds' not be set with granularity ${name}`);
    }
    return [['granularity', name], ['bucketMaxSpanSeconds', usual]];
  }
  if (span === undefined || rounding === undefined || span !== rounding) {
    throw invalidOptions("Timeseries 'bucketMaxSpanSeconds' and 'bucketRoundingSeconds' need to be set to the same value");
  }
  return [['bucketRoundingSeconds', rounding], ['bucketMaxSpanSeconds', span]];
}

/** The option `timeseries` as it is kept. 2, 14, 72, 40414, 40415. */
export function parseTimeSeries(value: Value): Document {
  const name = 'timeseries';
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  checkFields(value, fields, name);
  const timeField = checkName(presentField(value, 'timeField', name), 'timeField');
  const meta = value.get('metaField') ?? null;
  const kept: [string, Value][] = [['timeField', timeField]];
  if (meta !== null) {
    const metaField = checkName(meta, 'metaField');
    if (metaField === '_id') throw invalidOptions("The 'metaField' cannot be \"_id\"");
    if (metaField === timeField) throw invalidOptions("The 'metaField' and 'timeField' fields must not be the same");
    kept.push(['metaField', metaField]);
  }
  return Document.fromEntries([...kept, ...keptBucketing(bucketingOf(value, name))]);
}

const notBeside = ['capped', 'validator', 'validationLevel', 'validationAction', 'idIndex', 'viewOn', 'clusteredIndex', 'changeStreamPreAndPostImages', 'encryptedFields'];

/** Refuses options that a time series cannot have. */
export function checkTimeSeriesWith(given: Document): void {
  if ((given.get('timeseries') ?? null) === null) return;
  const wrong = notBeside.find((option) => (given.get(option) ?? null) !== null && given.get(option) !== false);
  if (wrong !== undefined) throw invalidOptions(`time-series collections are not supported with the option '${wrong}'`);
}

const changeable: ReadonlySet<string> = new Set(['granularity', 'bucketMaxSpanSeconds', 'bucketRoundingSeconds']);

/** The option after a `collMod`: spans may only grow. */
export function modifiedTimeSeries(before: Document, change: Value): Document {
  if (!(change instanceof Document)) throw wrongType('timeseries', change, 'object');
  const unknown = change.keys().find((field) => !changeable.has(field));
  if (unknown !== undefined) throw unknownField('collMod.timeseries', unknown);
  const { granularity, span, rounding } = bucketingOf(change, 'timeseries');
  if (granularity === undefined && span === undefined && rounding === undefined) return before;
  const bucketing = keptBucketing({ granularity, span, rounding });
  const wanted = Number(new Map(bucketing).get('bucketMaxSpanSeconds'));
  if (wanted < Number(before.get('bucketMaxSpanSeconds'))) {
    throw invalidOptions('Invalid transition for timeseries.granularity. Can only transition from \'seconds\' to \'minutes\' or \'minutes\' to \'hours\'.');
  }
  return Document.fromEntries([...before.fields.filter(([field]) => !changeable.has(field)), ...bucketing]);
}

/** The kept option, typed. */
export function timeSeriesOf(shown: Document): TimeSeriesOptions | undefined {
  const option = shown.get('timeseries');
  if (!(option instanceof Document)) return undefined;
  const meta = option.get('metaField');
  const time = option.get('timeField');
  return { timeField: typeof time === 'string' ? time : '', metaField: typeof meta === 'string' ? meta : undefined };
}

/** The index that a time series with a meta field begins with. */
export function firstIndexSpec({ timeField, metaField }: TimeSeriesOptions): Document | undefined {
  if (metaField === undefined) return undefined;
  const key = Document.fromEntries([[metaField, 1], [timeField, 1]]);
  return Document.of({ v: 2, key, name: `${metaField}_1_${timeField}_1` });
}

/** Refuses a measurement without a date in its time field. */
export function checkMeasurement(document: Document, { timeField }: TimeSeriesOptions): void {
  const { bytes, start } = document.raw;
  const at = findField(bytes, start, new FieldName(timeField));
  if (at >= 0 && bytes[at] === bsonType.date) return;
  throw badValue(`'${timeField}' must be present and contain a valid BSON UTC datetime value`);
}
