// `$addFields` and `$set`: computed fields beside those that are there. Follows the manual's page "$addFields (aggregation)".

import type { Value } from '../../bson/index.ts';
import { compileAddFields } from '../../query/index.ts';
import { mapped } from '../batches.ts';
import type { Stage, StageContext, StageRule } from '../stage.ts';

function parse(name: string, specification: Value, context: StageContext): Stage {
  const fields = compileAddFields(specification, context.options, name);
  return {
    name,
    specification,
    open: (source) => mapped(source, fields.apply),
    needs: (dependencies) => {
      dependencies.addAll(fields.dependencies);
      return 'some';
    },
  };
}

/** How `$addFields` and `$set` are compiled. */
export const addFieldsRules: readonly StageRule[] = ['$addFields', '$set'].map((name) => ({
  name,
  parse: (specification, context) => parse(name, specification, context),
}));
