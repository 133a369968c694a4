// docs/gateway-conformance.md says which test holds each promise of the gateway. Here it is seen that every test it names is there, that no case of the
// conformance lists goes without its rule in the page, and that figures it names stand in docs/benchmarks.md: so the page cannot go stale unseen.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bucketCases } from './conformance/buckets.ts';
import { conditionCases } from './conformance/conditions.ts';
import { messageCases } from './conformance/messages.ts';
import { pathCases } from './conformance/paths.ts';
import { rangeCases } from './conformance/ranges.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(`${root}docs/gateway-conformance.md`, 'utf8');
const cases = [...rangeCases, ...conditionCases, ...pathCases, ...bucketCases, ...messageCases];

/** Names of the tests and groups of a file; what is put in at run time may be anything. */
function namesIn(path: string): readonly RegExp[] {
  const source = readFileSync(path, 'utf8');
  const found = source.matchAll(/\b(?:test|describe)\((?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g);
  return [...found].map(([, plain, template]) => {
    const pieces = (plain ?? template ?? '').replace(/\\(.)/g, '$1').split(/\$\{[^}]*\}/);
    return new RegExp(`^${pieces.map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's');
  });
}

/** The references of the page: what is in code quotes in the second column of a table. */
const references = page.split('\n').filter((line) => /^\| .* \| .* \|$/.test(line) && !/^\| ---|^\|---/.test(line)).flatMap((line) => {
  const shown = line.slice(0, -2).slice(line.slice(0, -2).lastIndexOf(' | ') + 3);
  return [...shown.matchAll(/`([^`]+)`/g)].map(([, one]) => one as string);
});

test('every test, case and figure that the page of promises names is there', () => {
  const missing = references.filter((reference) => {
    const colon = reference.indexOf(': ');
    const [where, what] = [reference.slice(0, colon), reference.slice(colon + 2)];
    if (where === 'case') return !cases.some(({ name }) => name.startsWith(what));
    if (where === 'cases') return !cases.some(({ rule }) => rule === what);
    if (where === 'figure') return !readFileSync(`${root}docs/benchmarks.md`, 'utf8').includes(what);
    const path = `${root}test/${where}.test.ts`;
    return !existsSync(path) || namesIn(path).filter((name) => name.test(what)).length !== 1;
  });
  assert.deepEqual(missing, []);
  assert.ok(references.length > 150, `${references.length} references`);
});

test('the conformance lists have 400 cases and more, each of which cites a rule that the page names', () => {
  assert.ok(cases.length >= 400, `${cases.length} cases`);
  const cited = new Set(references.filter((one) => one.startsWith('cases: ')).map((one) => one.slice('cases: '.length)));
  assert.deepEqual([...new Set(cases.map(({ rule }) => rule))].filter((rule) => !cited.has(rule)), []);
});
