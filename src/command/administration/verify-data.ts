// `verifyData`: reads every block of the running server's files and names what is damaged. A command of ours; `validate` compares a collection's documents
// with its indexes.

import { Binary, BsonArray, Document, type Value } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import type { FoundProblem } from '../engine-report.ts';
import { anyField } from '../fields.ts';

function problemDocument({ message, file, offset, dictionary, fromKey, toKey }: FoundProblem): Document {
  const fields: [string, Value][] = [['message', message]];
  if (file !== undefined) fields.push(['file', file]);
  if (offset !== undefined) fields.push(['offset', BigInt(offset)]);
  if (dictionary !== undefined) fields.push(['dictionary', BigInt(dictionary)]);
  if (fromKey !== undefined) fields.push(['fromKey', new Binary(fromKey)]);
  if (toKey !== undefined) fields.push(['toKey', new Binary(toKey)]);
  return Document.fromEntries(fields);
}

export const verifyData: Command = defineCommand({
  name: 'verifyData',
  access: 'admin',
  adminOnly: true,
  about: 'reads every block of the data files and names what is damaged',
  fields: { verifyData: anyField },
  run: async ({ server: { engine } }) => {
    const { problems, dictionaries, blocks, rows } = await engine.verify();
    return {
      valid: problems.length === 0, problems: BsonArray.of(problems.map(problemDocument)), dictionaries: BigInt(dictionaries), blocks: BigInt(blocks), messages: BigInt(rows),
    };
  },
});
