// Breaks compiled product code in one place at a time and runs the tests of its layer: some test must fail. What survives is a line whose behaviour
// no test knows. `node dist/scripts/mutants.js [--seed N] [--count N] [--layer NAME] [--least SHARE]`; the seed printed makes the same sample again.
// Works on a copy, so a checkout in use is not disturbed.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

/** One change of one file. */
interface Mutant {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const testLimitMs = 60_000;

const otherOperator: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
};

/** Every change that we know to make in one compiled file. */
function mutantsOf(path: string): Mutant[] {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ES2023, true, ts.ScriptKind.JS);
  const found: Mutant[] = [];
  const add = (node: ts.Node, text: string): number => found.push({ path, start: node.getStart(), end: node.end, text });
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node)) return; // texts of errors are not behaviour enough
    if (ts.isBinaryExpression(node)) {
      const other = otherOperator[node.operatorToken.getText()];
      if (other !== undefined) add(node.operatorToken, other);
    } else if (ts.isIfStatement(node)) {
      add(node.expression, `!(${node.expression.getText()})`);
    } else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      add(node, ';');
    } else if (ts.isNumericLiteral(node) && ts.isReturnStatement(node.parent)) {
      add(node, `${Number(node.text) + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A copy of what the tests need, that may be broken. */
function workshop(): string {
  const folder = mkdtempSync(join(tmpdir(), 'frond-mutants-'));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'package.json', 'src', 'test', 'bench', 'docs', 'bin']) {
    if (existsSync(join(root, name))) symlinkSync(join(root, name), join(folder, name));
  }
  return folder;
}

function testsPass(folder: string, layer: string): boolean {
  const command = [join(folder, 'dist/scripts/test.js'), `${layer}/`];
  return spawnSync(process.execPath, command, { cwd: folder, stdio: 'ignore', timeout: testLimitMs, killSignal: 'SIGKILL' }).status === 0;
}

/** Picks `count` of `items` without repeating, the same for the same seed. */
function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  let state = seed | 1;
  const next = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const rest = [...items];
  return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(next(rest.length), 1)).flat();
}

/** Whether the layer's tests notice the change. */
function isKilled(folder: string, { path, start, end, text }: Mutant): boolean {
  const original = readFileSync(join(folder, path), 'utf8');
  writeFileSync(join(folder, path), original.slice(0, start) + text + original.slice(end));
  try {
    return !testsPass(folder, layerOf(path));
  } finally {
    writeFileSync(join(folder, path), original);
  }
}

function layerOf(path: string): string {
  return path.split('/')[2] ?? '';
}

function describe({ path, start, end, text }: Mutant): string {
  const whole = readFileSync(join(root, path), 'utf8');
  const line = whole.slice(0, start).split('\n').length;
  const before = whole.slice(start, end).split('\n', 1)[0] ?? '';
  return `${path}:${line}: ${before} -> ${text.split('\n', 1)[0] ?? ''}`;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    count: { type: 'string', default: '40' },
    layer: { type: 'string', default: '' },
    least: { type: 'string', default: '0.6' },
  },
});
const folder = workshop();
try {
  const files = readdirSync(join(root, 'dist/src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && path.startsWith(values.layer) && existsSync(join(root, 'test', path.split('/')[0] ?? '')))
    .map((path) => `dist/src/${path}`)
    .sort();
  const layers = [...new Set(files.map(layerOf))];
  const unfit = layers.filter((layer) => !testsPass(folder, layer));
  const chosen = sample(
    files.filter((path) => !unfit.includes(layerOf(path))).flatMap(mutantsOf),
    Number(values.count),
    Number(values.seed),
  );
  const survivors = chosen.filter((mutant) => !isKilled(folder, mutant));
  for (const mutant of survivors) console.log(`survived  ${describe(mutant)}`);
  const share = 1 - survivors.length / Math.max(chosen.length, 1);
  console.log(`mutants: ${chosen.length} made, ${chosen.length - survivors.length} noticed (${share.toFixed(2)}), seed ${values.seed}`);
  if (unfit.length > 0) console.log(`mutants: tests of ${unfit.join(', ')} fail already`);
  process.exitCode = share >= Number(values.least) && unfit.length === 0 && chosen.length > 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
