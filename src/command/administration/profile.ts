// profile: the level of a database's profiler, and what the profiler and the slow log take for slow.

import { CommandError } from '../../base/errors.ts';
import { Document, Double, isNumber, toDouble, type Value } from '../../bson/index.ts';
import { defineCommand, type Command, type Reply } from '../command.ts';
import { anyField, mappedField, numberField, required, typedField, type Field } from '../fields.ts';
import type { ProfileSettings } from '../monitor/profiler.ts';

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

const rateField: Field<number> = mappedField(typedField(['double', 'int', 'long', 'decimal'], isNumber), (value) => {
  const rate = toDouble(value);
  if (rate >= 0 && rate <= 1) return rate;
  throw badValue(`'sampleRate' must be between 0.0 and 1.0 inclusive`);
});

/** A filter, or the word that takes it away. */
const filterField: Field<Document | 'unset'> = {
  types: [],
  required: false,
  nullIsWrong: true,
  read: (value) => {
    if (value instanceof Document || value === 'unset') return value;
    throw badValue(`Expected an object, or the string 'unset'.`);
  },
};

/** The filter with every condition spelled out, as MongoDB gives it back. */
function spelledOut(filter: Document): Document {
  return Document.fromEntries(
    filter.fields.map(([name, value]): [string, Value] => {
      const isCondition = name.startsWith('$') || (value instanceof Document && value.first?.[0].startsWith('$') === true);
      return [name, isCondition ? value : Document.of({ $eq: value })];
    }),
  );
}

function describe({ level, slowMs, sampleRate, filter }: ProfileSettings): Reply {
  return {
    was: level,
    slowms: slowMs,
    sampleRate: new Double(sampleRate),
    filter: filter === undefined ? undefined : spelledOut(filter),
    note: filter === undefined ? undefined : 'When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.',
  };
}

const profile: Command = defineCommand({
  name: 'profile',
  access: 'admin',
  about: 'the level of the profiler: 0 off, 1 slow operations, 2 all',
  fields: { profile: required(numberField), slowms: numberField, sampleRate: rateField, filter: filterField, w: anyField },
  run: ({ server, db }, { profile: level, slowms, sampleRate, filter }) => {
    const { profiler } = server.monitor;
    const was = profiler.settings(db);
    const isLevel = level === 0 || level === 1 || level === 2;
    if (isLevel && level > 0 && db === 'local') throw badValue('the database local is not profiled');
    const wanted = filter === 'unset' ? undefined : (filter ?? was.filter);
    const changes = { slowMs: slowms ?? was.slowMs, sampleRate: sampleRate ?? was.sampleRate, filter: wanted };
    profiler.set(db, { level: isLevel ? level : was.level, ...changes });
    if (isLevel && level !== was.level) {
      server.log.write({ severity: 'I', component: 'COMMAND', id: 48742, message: 'Profiler settings changed' }, { db, from: was.level, to: level });
    }
    return Promise.resolve(describe(was));
  },
});

export const PROFILE_COMMANDS: readonly Command[] = [profile];
