// `$replaceRoot` and `$replaceWith`: another document in place of each. Follows the manual's page "$replaceRoot (aggregation)".

import { compileReplacement } from '../../query/index.ts';
import { mapped } from '../batches.ts';
import type { StageRule } from '../stage.ts';

/** How `$replaceRoot` and `$replaceWith` are compiled. */
export const replaceRootRules: readonly StageRule[] = ['$replaceRoot', '$replaceWith'].map((name) => ({
  name,
  parse: (specification, { options }) => {
    const replacement = compileReplacement(specification, options, name === '$replaceRoot');
    return {
      name,
      specification,
      open: (source) => mapped(source, replacement.apply),
      needs: (dependencies) => {
        dependencies.addAll(replacement.dependencies);
        return 'all-of-it';
      },
    };
  },
}));
