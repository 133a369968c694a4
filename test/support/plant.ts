// Plants a break: a copy of one layer's compiled code with one line changed, imported beside the real one. A test that holds a law runs the
// broken copy too and must see it fail, or it proves nothing. Other layers stay the real ones, so their classes (errors) are the same.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Where the compiled product is: dist/src beside dist/test. */
const compiled = fileURLToPath(new URL('../../src/', import.meta.url));

let planted = 0;

/** One change of one line; two, where either alone keeps the law. */
export interface Break {
  /** Compiled file below the layer: `block/space.js`. */
  readonly file: string;
  /** Text as it is compiled; it must be there exactly once. */
  readonly from: string;
  readonly to: string;
  readonly and?: Omit<Break, 'and'>;
}

function breakLine(copy: string, change: Break): void {
  const file = join(copy, change.file);
  const source = readFileSync(file, 'utf8');
  assert.equal(source.split(change.from).length, 2, `${relative(dirname(compiled), file)} has the line to break exactly once: ${change.from}`);
  writeFileSync(file, source.replace(change.from, () => change.to));
}

/** Imports the module at `entry` (below the layer) of a copy of the layer with the break in it. */
export async function plant(layer: string, entry: string, change: Break): Promise<unknown> {
  planted++;
  // Beside the layer, at the same depth: what it imports from other layers is found where it always is.
  const copy = join(compiled, `planted-${String(process.pid)}-${String(planted)}`);
  // Nothing but modules: maps and declarations are as much again, and nobody reads them.
  cpSync(join(compiled, layer), copy, { recursive: true, filter: (path) => !path.endsWith('.map') && !path.endsWith('.d.ts') });
  try {
    breakLine(copy, change);
    if (change.and !== undefined) breakLine(copy, change.and);
    return await import(pathToFileURL(join(copy, entry)).href);
  } finally {
    rmSync(copy, { recursive: true });
  }
}
