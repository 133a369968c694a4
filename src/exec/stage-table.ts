// Every stage of the aggregation language that is there, by name with `$`. What is not in it is refused as unknown.

import { countRule } from './stage/count.ts';
import { densifyRule } from './stage/densify.ts';
import { documentsRule } from './stage/documents.ts';
import { fillRule } from './stage/fill.ts';
import { geoNearRule } from './stage/geo-near.ts';
import { groupRule } from './stage/group.ts';
import { limitRule, skipRule } from './stage/limit.ts';
import { lookupRule } from './stage/lookup.ts';
import { matchRule } from './stage/match.ts';
import { mergeRule } from './stage/merge.ts';
import { outRule } from './stage/out.ts';
import { projectRules } from './stage/project.ts';
import { replaceRootRules } from './stage/replace-root.ts';
import { sortRule } from './stage/sort.ts';
import { unwindRule } from './stage/unwind.ts';
import { bucketAutoRule } from './stage/bucket-auto.ts';
import { bucketRule } from './stage/bucket.ts';
import { facetRule } from './stage/facet.ts';
import { graphLookupRule } from './stage/graph-lookup.ts';
import { redactRule } from './stage/redact.ts';
import { sampleRule } from './stage/sample.ts';
import { setWindowFieldsRule } from './stage/set-window-fields.ts';
import { sortByCountRule } from './stage/sort-by-count.ts';
import { systemRules } from './stage/system.ts';
import { unionWithRule } from './stage/union-with.ts';
import type { StageRule } from './stage.ts';

const rules: readonly StageRule[] = [
  countRule,
  densifyRule,
  documentsRule,
  fillRule,
  geoNearRule,
  groupRule,
  limitRule,
  lookupRule,
  matchRule,
  mergeRule,
  outRule,
  ...projectRules,
  ...replaceRootRules,
  skipRule,
  sortRule,
  unwindRule,
  bucketRule,
  bucketAutoRule,
  facetRule,
  graphLookupRule,
  redactRule,
  sampleRule,
  setWindowFieldsRule,
  sortByCountRule,
  ...systemRules,
  unionWithRule,
];

/** The rules, by name. */
export const stageRules: ReadonlyMap<string, StageRule> = new Map(rules.map((rule) => [rule.name, rule]));

/** Every stage, by name. */
export const stageNames: readonly string[] = [...stageRules.keys()];
