// validateDBMetadata: which collections have what the Stable API does not know, so that a strict client would trip over them.
// Follows the manual's page "validateDBMetadata".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import { checkDatabaseName, namespaceOf, type Collection, type View } from '../../catalog/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, objectField, parseFields, required, strictBoolField, stringField, type FieldTable } from '../fields.ts';
import { reading } from '../storage-scope.ts';

const flag = { ...strictBoolField, nullIsWrong: true };
const API_FIELDS = { version: required(stringField), strict: flag, deprecationErrors: flag } satisfies FieldTable;

/** A name of a database as this command takes it: with `$`, which no database can have. */
function checkName(db: string): void {
  if (db === '') throw new CommandError(28539, 'Location28539', 'db name is empty');
  if (/[ /\\"\0]/.test(db)) throw new CommandError(13280, 'Location13280', `invalid db name: ${db}`);
  if (!db.startsWith('$')) checkDatabaseName(db);
}

/** Kinds of index that are not in version 1. */
const UNSTABLE_KINDS: ReadonlySet<unknown> = new Set(['text', 'geoHaystack']);

function errorsOf(entry: Collection | View): Document[] {
  if (entry.kind === 'view') return [];
  const unstable = entry.indexes.filter(({ sparse, spec, key }) => sparse || spec.has('textIndexVersion') || key.fields.some(([, kind]) => UNSTABLE_KINDS.has(kind)));
  return unstable.map(({ name }) =>
    Document.of({
      ns: entry.ns.text,
      code: 323,
      codeName: 'APIStrictError',
      errmsg: `The index with name ${name} is not allowed in API version 1.`,
    }),
  );
}

const validateDbMetadata: Command = defineCommand({
  name: 'validateDBMetadata',
  access: 'read',
  about: 'what a strict client of the Stable API would be refused',
  fields: { validateDBMetadata: anyField, apiParameters: required(objectField), db: stringField, collection: stringField },
  run: async (context, { apiParameters, db, collection }) => {
    const asked = parseFields('validateDBMetadata.apiParameters', apiParameters, API_FIELDS);
    if (db !== undefined) checkName(db);
    if (collection !== undefined) namespaceOf(db ?? context.db, collection);
    // Of other versions nothing is known that could be missing.
    if (asked.strict !== true || asked.version !== '1' || db?.startsWith('$') === true) return { apiVersionErrors: BsonArray.empty };
    const { catalog } = context.server;
    const errors = await reading(context, async (txn) => {
      const found: Document[] = [];
      for (const name of db === undefined ? await catalog.databases(txn) : [db]) {
        const entries = await catalog.collections(txn, name);
        found.push(...entries.filter(({ ns }) => collection === undefined || ns.collection === collection).flatMap(errorsOf));
      }
      return found;
    });
    return { apiVersionErrors: BsonArray.of(errors) };
  },
});

export const METADATA_COMMANDS: readonly Command[] = [validateDbMetadata];
