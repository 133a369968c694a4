// docs/compatibility.md says what the tables say, and every difference it names is there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';

import type { Db } from 'mongodb';

import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';
import { compatibilityPage } from './compatibility-page.ts';
import { knownDifferences } from './known-differences.ts';

describe('the page about compatibility', () => {
  it('is made from the tables in the code', () => {
    const page = readFileSync(new URL('../../../docs/compatibility.md', import.meta.url), 'utf8');
    assert.equal(page, compatibilityPage(), 'run node dist/scripts/compatibility.js');
  });
});

describe('a known difference', () => {
  let server: ServerForTest;
  let db: Db;
  before(async () => {
    server = await openServerForTest();
    db = (await server.driver()).db('differences');
  });
  after(() => server.close());

  for (const { number, title, show } of knownDifferences) {
    it(`${String(number)} is there: ${title}`, () => show(db));
  }
});
