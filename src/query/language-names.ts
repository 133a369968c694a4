// The names of the language, from the tables that compile it: for the page that tells what is there.

import { accumulators } from './accumulator/table.ts';
import { expressionOperators } from './expression/compile.ts';
import { filterOperators } from './filter/parse.ts';
import { updateOperators } from './update/update.ts';

/** What can be written in filters, updates, expressions and accumulators, by name with `$`. */
export const languageNames: Readonly<Record<'filters' | 'updates' | 'expressions' | 'accumulators', readonly string[]>> = {
  filters: filterOperators,
  updates: updateOperators,
  expressions: [...expressionOperators.keys()],
  accumulators: [...accumulators.keys()],
};
