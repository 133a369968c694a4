// Every stage of the aggregation language that is there, by name with `$`. What is not in it is refused as unknown.

import { addFieldsRules } from './stage/add-fields.ts';
import { countRule } from './stage/count.ts';
import { groupRule } from './stage/group.ts';
import { limitRule, skipRule } from './stage/limit.ts';
import { matchRule } from './stage/match.ts';
import { replaceRootRules } from './stage/replace-root.ts';
import { unwindRule } from './stage/unwind.ts';
import type { StageRule } from './stage.ts';

const rules: readonly StageRule[] = [...addFieldsRules, countRule, groupRule, limitRule, matchRule, ...replaceRootRules, skipRule, unwindRule];

/** The rules, by name. */
export const stageRules: ReadonlyMap<string, StageRule> = new Map(rules.map((rule) => [rule.name, rule]));
