// `$match`: keeps the documents that a filter matches. Follows the manual's page "$match (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileFilter, Dependencies, refuse } from '../../query/index.ts';
import { mapped } from '../batches.ts';
import { joinedFilters } from '../filters.ts';
import type { PipelineOptions, Stage, StageRule } from '../stage.ts';

/** The stage of a filter. */
export function matchStage(filter: Document, options: PipelineOptions): Stage {
  const compiled = compileFilter(filter, options, 'match');
  return {
    name: '$match',
    specification: filter,
    open: (source) => mapped(source, (document) => (compiled.matches(document) ? document : undefined)),
    takeover: { kind: 'match', filter },
    needs: (dependencies) => {
      addFields(filter, dependencies);
      return 'some';
    },
    parted: (leaves) => {
      const conditions = conditionsOf(filter);
      const early = conditions.filter((condition) => readsOnly(condition, leaves));
      const [first] = early;
      if (first === undefined) return undefined;
      const late = joinedFilters(conditions.filter((condition) => !early.includes(condition)));
      return {
        early: matchStage(joinedFilters(early) ?? first, options),
        late: late === undefined ? undefined : matchStage(late, options),
      };
    },
  };
}

/** What must all be true, one by one. */
function conditionsOf(filter: Document): Document[] {
  return filter.fields.flatMap(([name, value]) => {
    if (name !== '$and' || !(value instanceof BsonArray)) return [Document.fromEntries([[name, value]])];
    return value.items().flatMap((item) => (item instanceof Document ? conditionsOf(item) : []));
  });
}

function readsOnly(condition: Document, leaves: (path: string) => boolean): boolean {
  const dependencies = new Dependencies();
  addFields(condition, dependencies);
  return dependencies.fields()?.every(leaves) === true;
}

/** Every top-level name is read, and all of the document where an expression may read anything. */
function addFields(filter: Document, dependencies: { addPath(path: string): void; addWhole(): void }): void {
  for (const [name, value] of filter.fields) {
    if (!name.startsWith('$')) dependencies.addPath(name);
    else if (value instanceof BsonArray) addOperands(value.items(), dependencies);
    else if (name !== '$comment') dependencies.addWhole();
  }
}

function addOperands(items: readonly Value[], dependencies: { addPath(path: string): void; addWhole(): void }): void {
  for (const item of items) {
    if (item instanceof Document) addFields(item, dependencies);
  }
}

/** How `$match` is compiled. */
export const matchRule: StageRule = {
  name: '$match',
  parse: (specification, { options }) => {
    if (!(specification instanceof Document)) throw refuse(15959, 'the match filter must be an expression in an object');
    return matchStage(specification, options);
  },
};
