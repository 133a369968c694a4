// `npm run check`: every gate of the repository, one after the other, all of them also when one fails. `npm run check -- lint layers` runs some.
// `npm run check:deep` runs those that take minutes and draw a new seed each time. What a gate holds is in its own configuration; here is only how
// it is started. The tests come last, so that their closing lines end the output.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Gate {
  readonly about: string;
  /** Path below node_modules or of a compiled script, then its parameters. */
  readonly command: readonly string[];
  /** Takes minutes: part of check:deep, not of check. */
  readonly deep?: true;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const modules = join(root, 'node_modules');
const codeFolders = ['src', 'test', 'bench', 'scripts'].filter((folder) => existsSync(join(root, folder)));

const gates: Readonly<Record<string, Gate>> = {
  types: {
    about: 'no `any` reaches anything (tsc itself ran in the build)',
    // `as` and `!` are looked at by lint: noUncheckedIndexedAccess makes hot loops write `bytes[i] as number`.
    command: [
      join(modules, 'type-coverage/bin/type-coverage'),
      ...['-p', 'tsconfig.json', '--strict', '--ignore-as-assertion', '--ignore-non-null-assertion', '--at-least', '99.8', '--detail'],
    ],
  },
  lint: { about: 'style', command: [join(modules, 'eslint/bin/eslint.js'), '.'] },
  layers: { about: 'who imports whom', command: [join(modules, 'dependency-cruiser/bin/dependency-cruise.mjs'), ...codeFolders] },
  dead: { about: 'unused files, exports and dependencies', command: [join(modules, 'knip/bin/knip.js'), '--no-config-hints'] },
  twins: { about: 'the same lines twice', command: [join(modules, 'jscpd/bin/jscpd'), ...codeFolders] },
  tidy: { about: 'what no other tool looks at', command: [join(root, 'dist/scripts/tidy.js')] },
  test: { about: 'behaviour', command: [join(root, 'dist/scripts/test.js')] },
  sim: { about: 'the engine on the simulated machine, from new seeds', command: [join(root, 'dist/scripts/sim.js'), '--minutes', '5'], deep: true },
  canary: { about: 'every rule still fires', command: [join(root, 'dist/scripts/canary.js')], deep: true },
  mutants: { about: 'a broken line is noticed by a test', command: [join(root, 'dist/scripts/mutants.js')], deep: true },
};

/** Runs one gate with its output passed on; whether it held. */
function hold(name: string, { about, command }: Gate): boolean {
  console.log(`\n== ${name}: ${about}`);
  const startedMs = performance.now();
  const result = spawnSync(process.execPath, command, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const held = result.status === 0;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (name !== 'test') console.log(`== ${name} ${held ? 'holds' : 'FAILS'} (${seconds} s)`);
  return held;
}

const { values, positionals: asked } = parseArgs({ allowPositionals: true, options: { deep: { type: 'boolean', default: false } } });
const unknown = asked.filter((name) => !Object.hasOwn(gates, name));
if (unknown.length > 0) {
  console.error(`no such gate: ${unknown.join(', ')}; there are ${Object.keys(gates).join(', ')}`);
  process.exitCode = 1;
} else {
  const chosen = Object.entries(gates).filter(([name, { deep = false }]) => (asked.length === 0 ? deep === values.deep : asked.includes(name)));
  const failed = chosen.filter(([name, gate]) => !hold(name, gate)).map(([name]) => name);
  if (failed.length > 0) console.error(`\ncheck: ${failed.join(', ')} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
