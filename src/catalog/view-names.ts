// The collections and views that a view reads: the one it stands on, and those that stages of its pipeline name. A view may not read itself by any way.
// Follows the manual's page "Views".

import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';

/** Names in the view's own database, as its options have them. */
export function namesReadBy(options: Document): ReadonlySet<string> {
  const names = new Set<string>();
  const viewOn = options.get('viewOn');
  if (typeof viewOn === 'string') names.add(viewOn);
  addPipeline(names, options.get('pipeline'));
  return names;
}

function addPipeline(names: Set<string>, pipeline: Value | undefined): void {
  if (!(pipeline instanceof BsonArray)) return;
  for (const stage of pipeline.items()) {
    const [name, specification] = stage instanceof Document ? (stage.first ?? []) : [];
    if (specification !== undefined) addStage(names, name ?? '', specification);
  }
}

/** The field of a stage that names what it reads. */
const sources: ReadonlyMap<string, string> = new Map([['$lookup', 'from'], ['$graphLookup', 'from'], ['$unionWith', 'coll']]);

function addStage(names: Set<string>, name: string, specification: Value): void {
  if (name === '$unionWith' && typeof specification === 'string') names.add(specification);
  if (!(specification instanceof Document)) return;
  const source = specification.get(sources.get(name) ?? '');
  if (typeof source === 'string') names.add(source);
  if (name === '$facet') for (const [, pipeline] of specification.fields) addPipeline(names, pipeline);
  else if (sources.has(name)) addPipeline(names, specification.get('pipeline'));
}
