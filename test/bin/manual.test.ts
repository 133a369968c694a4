import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { manualPages } from '../../src/bin/manual.ts';

const root = new URL('../../../', import.meta.url);

function frond(...words: readonly string[]): { readonly status: number | null; readonly out: string; readonly errors: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [new URL('dist/src/bin/frond.js', root).pathname, ...words], { encoding: 'utf8' });
  return { status, out: stdout, errors: stderr };
}

test('help lists every command, and tells the same of one however it is asked', () => {
  const all = frond('help');
  assert.equal(all.status, 0);
  for (const name of manualPages.keys()) {
    assert.match(all.out, new RegExp(`^  ${name} `, 'm'));
    const { status, out } = frond('help', name);
    assert.equal(status, 0, name);
    assert.ok(out.startsWith(`usage: frond ${name} `), out);
  }
  assert.deepEqual(frond('verify', '--help'), frond('help', 'verify'));
});

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { readonly version: string };
  assert.deepEqual(frond('--version'), { status: 0, out: `frond ${version}\n`, errors: '' });
});

test('an unknown command ends with status 2 and names itself, with or without a call for help', () => {
  for (const words of [['nope'], ['nope', '--help']]) assert.deepEqual(frond(...words), { status: 2, out: '', errors: 'frond: unknown command nope; frond help lists them\n' });
});
