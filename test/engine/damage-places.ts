// Places to damage in a data directory that is whole: one of each kind of block.

import assert from 'node:assert/strict';
import { unitBytes } from '../../src/engine/block/block-number.ts';
import { blockKinds } from '../../src/engine/block/block-table.ts';
import { FoundStore } from '../../src/engine/salvage/found-store.ts';
import { decodeNode, extentsOf } from '../../src/engine/tree/node.ts';
import type { Env } from '../../src/env/index.ts';

const dataFile = '/data/data.frond';

/** A place to damage. */
export interface Place {
  readonly file: string;
  readonly offset: number;
}

/** Places by kind in the files that were left. */
export interface Places {
  readonly document: Place;
  readonly entry: Place;
  readonly nodeCopy: Place;
  readonly nodeBoth: readonly [Place, Place];
  readonly table: Place;
  readonly dictionaryTable: Place;
  readonly superblock: Place;
  readonly large: Place;
}

/** Finds a place of each kind; `documents` is how many the collection has that is to be hurt. */
export async function placesIn(env: Env, documents: number): Promise<Places> {
  const store = await FoundStore.open(env, dataFile, ({ message }) => assert.fail(message));
  const placeOf = (number: number): { first: number; second: number } => {
    const place = store.places.get(number);
    assert.ok(place !== undefined);
    return { first: place.first * unitBytes, second: place.kind === blockKinds.meta ? place.second * unitBytes : -1 };
  };
  // The dictionary of the documents is made before that of the index.
  const [byDocuments, byEntries] = store.trees.filter(({ rows }) => rows === documents).sort((a, b) => a.id - b.id);
  assert.ok(byDocuments !== undefined && byEntries !== undefined);
  const middleOf = async (root: typeof byDocuments.root): Promise<Place> => {
    let node = decodeNode(root, await store.readMeta(root));
    while (node.kind === 'internal') node = decodeNode(node.children[0] ?? root, await store.readMeta(node.children[0] ?? root));
    const [extent] = extentsOf(node);
    assert.ok(extent !== undefined && extent.fences.length > 2, 'a leaf of a few basements');
    const basement = extent.fences.length >> 1;
    return { file: dataFile, offset: placeOf(extent.block).first + extent.fences.storedOffset(basement) + 20 };
  };
  const node = placeOf(byDocuments.root);
  const { table, root } = store.superblock;
  assert.ok(table !== undefined && root !== undefined);
  const places: Places = {
    document: await middleOf(byDocuments.root), entry: await middleOf(byEntries.root),
    nodeCopy: { file: dataFile, offset: node.first + 40 }, nodeBoth: [{ file: dataFile, offset: node.first + 40 }, { file: dataFile, offset: node.second + 40 }],
    table: { file: dataFile, offset: table.first * unitBytes + 33 }, dictionaryTable: { file: dataFile, offset: placeOf(root.dictionaryTable).first + 35 },
    superblock: { file: dataFile, offset: (store.copies.find(({ superblock }) => superblock?.generation === store.superblock.generation)?.offset ?? 0) + 33 },
    // Not a segment of the oplog's rows, whose kind is 1.
    large: { file: await keyedSegment(env), offset: 3000 },
  };
  await store.close();
  return places;
}

/** A segment of large values that name their keys. */
async function keyedSegment(env: Env): Promise<string> {
  for (const name of await env.files.list('/data/blob')) if ((await env.files.readAll(`/data/blob/${name}`))[16] === 0) return `/data/blob/${name}`;
  return assert.fail('there is no such segment');
}
