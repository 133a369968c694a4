// The query settings of the server: in memory for every query to look at, and in a document of `config.clusterParameters`, so that they are
// the same after a restart. Changes are made one after the other; what a reader sees is on disk.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import { namespaceOf, putDocument, type Catalog } from '../../catalog/index.ts';
import { shapedCommand, shapeCollection, type ShapedCommand } from './query-shape.ts';
import { QuerySettings } from './settings.ts';

const NAMESPACE = namespaceOf('config', 'clusterParameters');

const ID = 'querySettings';

const SETTINGS_BYTES_MAX = 16 * 1024 * 1024;

/** The settings of one shape. */
export interface ShapeSettings {
  readonly hash: string;
  readonly settings: QuerySettings;
  /** A query of the shape, with `$db`; undefined where the shape is known by its hash alone. */
  readonly query: Document | undefined;
}

/** All settings, by the hash of the shape. */
export class SettingsStore {
  readonly #catalog: Catalog;
  #settings: ReadonlyMap<string, ShapeSettings> = new Map();
  /** Commands and collections that settings are about; undefined where one is known by its hash alone. */
  #places: ReadonlySet<string> | undefined = new Set();
  #last: Promise<unknown> = Promise.resolve();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Whether there are any. */
  get any(): boolean {
    return this.#places === undefined || this.#places.size > 0;
  }

  /** Whether a query on this collection can have settings at all: most servers have none, and no shape is made then. */
  mayApply(command: ShapedCommand, db: string, collection: string): boolean {
    return this.#places === undefined || (this.#places.size > 0 && this.#places.has(placeOf(command, db, collection)));
  }

  get(hash: string): ShapeSettings | undefined {
    return this.#settings.get(hash);
  }

  list(): readonly ShapeSettings[] {
    return [...this.#settings.values()];
  }

  /** Reads what an earlier run has set. */
  async load(): Promise<void> {
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, NAMESPACE);
      const stored = await collection?.get(txn, collection.keyOf(ID));
      const rows = stored?.get('settingsArray');
      if (rows instanceof BsonArray) this.#become(rows.items().flatMap((row) => (row instanceof Document ? readRow(row) : [])));
    } finally {
      txn.abort();
    }
  }

  /** Changes the settings of one shape; `change` is given those that stand, and gives undefined to remove them. Durable when it resolves. */
  change(hash: string, change: (before: ShapeSettings | undefined) => ShapeSettings | undefined): Promise<ShapeSettings | undefined> {
    const changed = this.#last.then(async () => {
      const before = this.#settings.get(hash);
      const after = change(before);
      if (before === undefined && after === undefined) return undefined;
      const next = new Map(this.#settings);
      if (after === undefined) next.delete(hash);
      else next.set(hash, after);
      await this.#write([...next.values()]);
      this.#become([...next.values()]);
      return after;
    });
    this.#last = changed.catch(() => undefined);
    return changed;
  }

  #become(rows: readonly ShapeSettings[]): void {
    this.#settings = new Map(rows.map((row) => [row.hash, row]));
    const places = rows.map(({ query }) => (query === undefined ? undefined : placeOfQuery(query)));
    this.#places = places.includes(undefined) ? undefined : new Set(places.filter((place) => place !== undefined));
  }

  async #write(rows: readonly ShapeSettings[]): Promise<void> {
    const after = Document.of({
      _id: ID,
      settingsArray: BsonArray.of(rows.map(({ hash, settings, query }) => Document.of({ queryShapeHash: hash, settings: settings.document, representativeQuery: query }))),
    });
    if (after.byteLength > SETTINGS_BYTES_MAX) throw new CommandError(10334, 'BSONObjectTooLarge', 'the settings of all query shapes together are larger than 16 MiB');
    await this.#catalog.run(async (txn) => {
      await putDocument(txn, await this.#catalog.ensureCollection(txn, NAMESPACE), after);
    });
  }
}

function readRow(row: Document): ShapeSettings[] {
  const [hash, settings, query] = ['queryShapeHash', 'settings', 'representativeQuery'].map((name) => row.get(name));
  if (typeof hash !== 'string' || !(settings instanceof Document)) return [];
  return [{ hash, settings: QuerySettings.stored(settings), query: query instanceof Document ? query : undefined }];
}

function placeOf(command: ShapedCommand, db: string, collection: string): string {
  return `${command} ${db}.${collection}`;
}

function placeOfQuery(query: Document): string | undefined {
  const command = shapedCommand(query);
  const db = query.get('$db');
  return command === undefined || typeof db !== 'string' ? undefined : placeOf(command, db, shapeCollection(query.first?.[1] ?? null));
}
