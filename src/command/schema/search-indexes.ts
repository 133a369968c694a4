// Search indexes exist on Atlas only: a server of one's own answers that it has none to give, as MongoDB does.

import { CommandError } from '../../base/errors.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, collectionField } from '../fields.ts';

/** What whoever asks for a search index is told. */
export function searchNotEnabled(): CommandError {
  const text =
    'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs';
  return new CommandError(31082, 'SearchNotEnabled', text);
}

function refused(name: string): Command {
  return defineCommand({
    name,
    access: 'write',
    writeConcern: false,
    about: 'refused: search indexes exist on Atlas only',
    fields: { [name]: collectionField, indexes: anyField, name: anyField, id: anyField, definition: anyField },
    run: () => Promise.reject(searchNotEnabled()),
  });
}

export const SEARCH_INDEX_COMMANDS: readonly Command[] = [
  refused('createSearchIndexes'),
  refused('dropSearchIndex'),
  refused('updateSearchIndex'),
  refused('listSearchIndexes'),
];
