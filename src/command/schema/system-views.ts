// `system.views`: the definitions of the views of a database, read as the documents of a collection. They are made of the catalog whenever
// somebody reads them; nothing of the kind is stored. Follows the manual's page "System Collections".

import { sha256Hex } from '../../auth/index.ts';
import { encodeUtf8 } from '../../base/text.ts';
import { BsonArray, Binary, Document, type Value } from '../../bson/index.ts';
import { namespaceOf, type CatalogTransaction, type Namespace, type View } from '../../catalog/index.ts';
import type { CommandContext } from '../command.ts';

const NAME = 'system.views';

/** The one index that it shows. */
export const VIEWS_INDEX: Document = Document.of({ v: 2, key: Document.of({ _id: 1 }), name: '_id_' });

/** Whether a name is that of the definitions of views. */
export function namesViews(ns: Namespace): boolean {
  return ns.collection === NAME;
}

/** The views of a database. */
async function viewsOf(context: CommandContext, txn: CatalogTransaction, db: string): Promise<View[]> {
  return (await context.server.catalog.collections(txn, db)).filter((entry) => entry.kind === 'view');
}

/** The documents; undefined where the database has no views, and so no such collection. */
export async function viewDefinitions(context: CommandContext, txn: CatalogTransaction, db: string): Promise<readonly Document[] | undefined> {
  const views = await viewsOf(context, txn, db);
  if (views.length === 0) return undefined;
  return views.map(({ ns, viewOn, pipeline, collation }) => Document.of({ _id: ns.text, viewOn, pipeline: BsonArray.of([...pipeline]), collation: collation?.spec }));
}

/** The stage that makes those documents: they are no expressions, whatever their pipelines hold. */
export function viewDefinitionsStage(rows: readonly Document[]): Value {
  return Document.fromEntries([['$documents', Document.fromEntries([['$literal', BsonArray.of([...rows])]])]]);
}

/** The row of the collection in listCollections. Its UUID is always the same. */
export function describeViews(db: string): Document {
  const name = encodeUtf8(namespaceOf(db, NAME).text);
  const digits = sha256Hex(name).slice(0, 32);
  const bytes = Uint8Array.from({ length: 16 }, (_, at) => Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return Document.of({ name: NAME, type: 'collection', options: Document.empty, info: Document.of({ readOnly: false, uuid: new Binary(bytes, 4) }), idIndex: VIEWS_INDEX });
}
