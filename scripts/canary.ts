// Plants one violation of each rule in a small copy of the repository and sees the rule fire: a gate that was switched off by an edit of its
// configuration (in eslint's the last block wins, silently) would otherwise look like a gate that holds. Part of `npm run check:deep`.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Plant {
  readonly path: string;
  readonly text: string;
  /** Names of the rules that must fire for this file. */
  readonly lint?: readonly string[];
  readonly layers?: readonly string[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const copied = ['eslint.config.js', '.dependency-cruiser.cjs', 'tsconfig.json', 'package.json', 'scripts/lint', 'src/base/errors.ts'];
const lines = (count: number, line: string): string => `${line}\n`.repeat(count);
const parameters = (count: number): string => Array.from({ length: count }, (_, i) => `p${i}: number`).join(', ');
const cases = Array.from({ length: 13 }, (_, i) => `case ${i}: return 1;`).join(' ');

/** A file of the command layer with one line, and the rule that the line breaks. */
const inCommand = (name: string, rule: string, text: string): Plant => ({ path: `src/command/${name}.ts`, text, lint: [rule] });

const plants: readonly Plant[] = [
  inCommand('long-file', 'max-lines', lines(501, '// x')),
  inCommand('long-function', 'max-lines-per-function', `export function f(): number {\n${lines(70, '  ;')}  return 1;\n}`),
  inCommand('branches', 'complexity', `export const f = (n: number): boolean => ${Array.from({ length: 16 }, (_, i) => `n === ${i}`).join(' || ')};`),
  inCommand('deep', 'max-depth', `export function f(n: number): void { ${'if (n) { '.repeat(5)}f(n);${' }'.repeat(5)} }`),
  inCommand('parameters', 'max-params', `export function f(${parameters(5)}): void { f(p0, p1, p2, p3, p4); }`),
  inCommand('switch', 'no-restricted-syntax', `export function f(n: number): number { switch (n) { ${cases} default: return n; } }`),
  inCommand('twice-as', 'no-restricted-syntax', "export const a = 'b' as unknown as number;"),
  inCommand('enum', 'no-restricted-syntax', 'export enum E { A }'),
  inCommand('default', 'no-restricted-syntax', 'export default 1;'),
  inCommand('barrel', 'no-restricted-syntax', "export * from '../base/errors.ts';"),
  inCommand('pass-on', 'no-restricted-syntax', "export { HttpError } from '../base/errors.ts';"),
  inCommand('private', 'no-restricted-syntax', 'export class A { private a = 1; b(): number { return this.a; } }'),
  inCommand('class-name', 'no-restricted-syntax', 'export class CursorManager { a = 1; }'),
  inCommand('inherit', 'no-restricted-syntax', 'export class A extends Map<string, string> {}'),
  inCommand('bare-error', 'no-restricted-syntax', "export function f(): never { throw new Error('x'); }"),
  inCommand('no-cause', 'no-restricted-syntax', "import { AssertionError } from '../base/errors.ts';\ntry { JSON.parse(''); } catch { throw new AssertionError('x'); }"),
  inCommand('hidden-clock', 'no-restricted-syntax', 'export const d = new Date();'),
  inCommand('clock', 'no-restricted-properties', 'export const d = Date.now();'),
  inCommand('random', 'no-restricted-properties', 'export const d = Math.random();'),
  inCommand('process', 'no-restricted-globals', 'export const d = process.env;'),
  inCommand('timer', 'no-restricted-globals', 'setTimeout(() => undefined, 1);'),
  inCommand('buffer', 'no-restricted-globals', 'export const d = Buffer.alloc(1);'),
  inCommand('any', '@typescript-eslint/no-explicit-any', 'export const d: any = 1;'),
  inCommand('unsafe', '@typescript-eslint/no-unsafe-assignment', "export const d: string = JSON.parse('');"),
  inCommand('claim', 'frond/no-unsafe-assertion', "export const d = JSON.parse('') as { a: string };"),
  inCommand('narrowing', 'frond/no-unsafe-assertion', 'export const f = (a: Node | string): string => a as string;\ninterface Node { a: number }'),
  inCommand('not-exhaustive', '@typescript-eslint/switch-exhaustiveness-check', "export function f(a: 'a' | 'b'): void { switch (a) { case 'a': f(a); } }"),
  inCommand('floating', '@typescript-eslint/no-floating-promises', 'export async function f(): Promise<void> { await f(); f(); }'),
  inCommand('misused', '@typescript-eslint/no-misused-promises', '[1].forEach(async () => { await Promise.resolve(); });'),
  inCommand('async-reflex', '@typescript-eslint/require-await', 'export async function f(): Promise<number> { return 1; }'),
  inCommand('thrown-text', '@typescript-eslint/only-throw-error', "export function f(): never { throw 'x'; }"),
  inCommand('lost-cause', 'preserve-caught-error', "try { JSON.parse(''); } catch (error) { throw new TypeError(String(error)); }"),
  inCommand('unused-catch', '@typescript-eslint/no-unused-vars', "try { JSON.parse(''); } catch (error) { JSON.parse('1'); }"),
  inCommand('narration', 'no-warning-comments', '// Now we count.\nexport const d = 1;'),
  inCommand('bare-module', 'no-restricted-imports', "import { inspect } from 'util';\nexport const d = inspect(1);"),
  inCommand('host-random', 'no-restricted-imports', "import { randomUUID } from 'node:crypto';\nexport const d = randomUUID();"),
  inCommand('type-import', '@typescript-eslint/consistent-type-imports', "import { HttpError } from '../base/errors.ts';\nexport const d = (e: HttpError): number => e.status;"),
  { path: 'src/query/async.ts', text: 'export async function f(): Promise<void> { await f(); }', lint: ['no-restricted-syntax'] },
  { path: 'src/engine/tree/async.ts', text: 'export async function f(): Promise<void> { await f(); }', lint: ['no-restricted-syntax'] },
  { path: 'src/engine/wal/bigint.ts', text: 'export const d: bigint = 1n;', lint: ['no-restricted-syntax'] },
  { path: 'test/command/mock.test.ts', text: "import { mock } from 'node:test';\nmock.reset();", lint: ['no-restricted-imports'] },

  { path: 'src/bson/index.ts', text: "export { inner } from './inner.ts';" },
  { path: 'src/bson/inner.ts', text: 'export const inner = 1;' },
  { path: 'src/engine/index.ts', text: 'export interface Seq { readonly seq: number }' },
  { path: 'src/command/upward.ts', text: "import type { Seq } from '../engine/index.ts';\nexport type S = Seq;", layers: ['layer-command'] },
  { path: 'src/command/inside.ts', text: "import { inner } from '../bson/inner.ts';\nexport const d = inner;", layers: ['no-private-import'] },
  { path: 'src/command/types.ts', text: "import { Long } from 'bson';\nexport const d = Long;", layers: ['only-bson-knows-bson'] },
  { path: 'src/command/pages.ts', text: "import { lookup } from 'mrmime';\nexport const d = lookup;", layers: ['only-owner-knows-package'] },
  { path: 'src/command/files.ts', text: "import { readFileSync } from 'node:fs';\nexport const d = readFileSync;", layers: ['only-env-touches-host'] },
  { path: 'src/command/dev.ts', text: "import fc from 'fast-check';\nexport const d = fc;", layers: ['no-dev-dependency'] },
  { path: 'src/command/tested.ts', text: "import { d } from '../../test/bson/inside.test.ts';\nexport const e = d;", layers: ['product-without-tests'] },
  { path: 'src/command/lost.ts', text: "import { d } from './nowhere.ts';\nexport const e = d;", layers: ['no-unresolved'] },
  { path: 'src/command/bag.ts', text: "import { d } from './utils.ts';\nexport const e = d;", layers: ['no-grab-bag'] },
  { path: 'src/command/utils.ts', text: 'export const d = 1;' },
  { path: 'src/command/left.ts', text: "import { right } from './right.ts';\nexport const left = (): number => right();", layers: ['no-circular'] },
  { path: 'src/command/right.ts', text: "import { left } from './left.ts';\nexport const right = (): number => left();" },
  { path: 'src/command/lonely.ts', text: 'export const d = 1;', layers: ['no-orphans'] },
  { path: 'src/extra/new.ts', text: "import { inner } from '../bson/index.ts';\nexport const d = inner;", layers: ['layer-unknown'] },
  { path: 'src/root.ts', text: "import { inner } from './bson/inner.ts';\nexport const d = inner;", layers: ['no-private-import-at-root'] },
  { path: 'src/engine/run/merge.ts', text: "import { d } from '../tree/node.ts';\nexport const e = d;", layers: ['layer-engine-run'] },
  { path: 'src/engine/tree/node.ts', text: 'export const d = 1;' },
  { path: 'test/bson/inside.test.ts', text: "import { inner } from '../../src/bson/inner.ts';\nexport const d = inner;" },
  { path: 'test/wire/inside.test.ts', text: "import { inner } from '../../src/bson/inner.ts';\nexport const d = inner;", layers: ['tests-use-faces'] },
];

interface LintResult {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null }[];
}

interface CruiseResult {
  readonly summary: { readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[] };
}

/** Runs a tool in `folder` that prints JSON, whatever it ends with. */
function json(folder: string, command: readonly string[]): unknown {
  const result = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (result.stdout === '') throw new Error(`${command.join(' ')}: ${result.stderr}`);
  return JSON.parse(result.stdout);
}

/** `path rule` of everything that fired. */
function firedIn(folder: string): Set<string> {
  const modules = join(root, 'node_modules');
  const linted = json(folder, [join(modules, 'eslint/bin/eslint.js'), '--format', 'json', 'src', 'test']) as LintResult[];
  const cruised = json(folder, [join(modules, 'dependency-cruiser/bin/dependency-cruise.mjs'), '--output-type', 'json', 'src', 'test']) as CruiseResult;
  return new Set([
    ...linted.flatMap(({ filePath, messages }) => messages.map(({ ruleId }) => `${filePath.slice(folder.length + 1)} ${ruleId ?? 'parser'}`)),
    ...cruised.summary.violations.map(({ from, rule }) => `${from} ${rule.name}`),
  ]);
}

const folder = mkdtempSync(join(tmpdir(), 'frond-canary-'));
try {
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const { path, text } of plants) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${text}\n`);
  }
  const fired = firedIn(folder);
  const expected = plants.flatMap(({ path, lint = [], layers = [] }) => [...lint, ...layers].map((rule) => `${path} ${rule}`));
  const silent = expected.filter((key) => !fired.has(key));
  for (const key of silent) console.error(`did not fire: ${key}`);
  console.log(`canary: ${expected.length - silent.length} of ${expected.length} planted violations were found`);
  process.exitCode = silent.length > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}
