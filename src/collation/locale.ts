// Which locales there are and where the table of each stands: a locale's own, else that of the locale it is part of (`de_AT` of `de`), else the root's
// (UTS #35, "Collation Type Fallback"). A kind other than the usual is asked for as `de@collation=phonebook`.

import { must } from '../base/assert.ts';
import { lateModule } from '../base/late-module.ts';
import type * as packed from './data.ts';
import { loadTailoring } from './elements.ts';
import type { ElementTable } from './unpack.ts';

interface Locale {
  readonly kindByDefault: string;
  readonly kinds: ReadonlyMap<string, number>;
}

const data = lateModule<typeof packed>(import.meta.url, './data.js');

let locales: ReadonlyMap<string, Locale> | undefined;

function localeTable(): ReadonlyMap<string, Locale> {
  locales ??= new Map(
    data().localeLines.split(' ').map((line): [string, Locale] => {
      const [name = '', kindByDefault = '', kinds = ''] = line.split(':');
      const pairs = kinds === '' ? [] : kinds.split(',').map((kind) => kind.split('='));
      return [name, { kindByDefault, kinds: new Map(pairs.map(([kind = '', table]) => [kind, Number(table)])) }];
    }),
  );
  return locales;
}

/** A locale and those it is part of, the nearest first; the root last. */
function chainOf(name: string): Locale[] {
  const table = localeTable();
  const chain: Locale[] = [];
  for (let part = name; part !== ''; part = part.slice(0, Math.max(part.lastIndexOf('_'), 0))) {
    const locale = table.get(part);
    if (locale !== undefined) chain.push(locale);
  }
  chain.push(must(table.get('root'), 'the root locale'));
  return chain;
}

/** The number of the table for a locale's name, with its kind if it has one; undefined where there is no such locale or kind. */
function tableNumberOf(name: string): number | undefined {
  const [base = '', keyword, ...others] = name.split('@');
  if (!localeTable().has(base) || others.length > 0) return undefined;
  const chain = chainOf(base);
  const asked = keyword === undefined ? undefined : /^collation=([a-z0-9]+)$/.exec(keyword)?.[1];
  if (keyword !== undefined && asked === undefined) return undefined;
  const kind = asked ?? chain.find(({ kindByDefault }) => kindByDefault !== '')?.kindByDefault ?? 'standard';
  const find = (wanted: string): number | undefined => chain.find(({ kinds }) => kinds.has(wanted))?.kinds.get(wanted);
  return find(kind) ?? (asked === undefined ? find('standard') : undefined);
}

const loaded = new Map<number, ElementTable>();

/** The table of a locale; undefined where there is no such locale. */
export function tableOfLocale(name: string): ElementTable | undefined {
  const number = tableNumberOf(name);
  if (number === undefined) return undefined;
  let table = loaded.get(number);
  if (table === undefined) {
    table = loadTailoring(must(data().tailoredTables[number], 'a table of its number'));
    loaded.set(number, table);
  }
  return table;
}

/** The names of all locales. */
export function localeNames(): string[] {
  return [...localeTable().keys()];
}
