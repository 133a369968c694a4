// Stages that tell of the server itself. They come first in a pipeline and make its documents; what they tell is known to who runs
// pipelines, so they ask their provider. Follows the manual's pages of these stages.

import { refuse } from '../../query/index.ts';
import { gathered } from '../batches.ts';
import type { StageRule } from '../stage.ts';

const NAMES = '$collStats $currentOp $indexStats $listClusterCatalog $listLocalSessions $listSearchIndexes $listSessions $planCacheStats $querySettings'.split(' ');

/** Stages that are known, but have no place behind another one, nor in a nested pipeline. */
export const firstStages: ReadonlySet<string> = new Set([...NAMES, '$changeStream', '$geoNear', '$listCatalog', '$listSampledQueries', '$queryStats']);

/** Stages that stand on no collection, and so in no pipeline of one, with the code for them there. */
const withoutCollection: ReadonlyMap<string, number> = new Map([['$listLocalSessions', 73], ['$currentOp', 73], ['$querySettings', 73], ['$listClusterCatalog', 9621301]]);

function refuseNested(name: string, depth: number): void {
  const code = depth > 0 ? withoutCollection.get(name) : undefined;
  if (code !== undefined) throw refuse(code, `${name} must be run against the database with {aggregate: 1}, not a collection`);
}

function systemRule(name: string): StageRule {
  return {
    name,
    parse: (specification, { options, depth }) => {
      refuseNested(name, depth);
      return ({
      name,
      specification,
      makesDocuments: true,
      open: (source, provider) =>
        gathered(source, (operation) => {
          if (provider.systemStage === undefined) throw refuse(40324, `Unrecognized pipeline stage name: '${name}'`);
          const { database, collection } = options;
          return provider.systemStage({ name, specification, database, collection, isNested: depth > 0 }, operation);
        }),
      needs: () => 'all-of-it',
      });
    },
  };
}

/** How these stages are compiled. */
export const systemRules: readonly StageRule[] = NAMES.map(systemRule);
