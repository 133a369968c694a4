// The page docs/compatibility.md, made of the tables in the code: what of MongoDB's names is there, what is not, and the known differences.

import { commandNames, streamStageNames } from '../../src/command/index.ts';
import { stageNames, windowOperators } from '../../src/exec/index.ts';
import { languageNames } from '../../src/query/index.ts';
import { knownDifferences } from './known-differences.ts';
import { mongodbNames } from './mongodb-names.ts';

/** Names that have a row in a table only to be refused with MongoDB's own words. */
const refusedNames: ReadonlySet<string> = new Set(['$where', '$function', '$accumulator']);

interface Family {
  readonly title: string;
  readonly names: readonly string[];
  readonly there: readonly string[];
}

const families: readonly Family[] = [
  { title: 'Commands', names: mongodbNames.commands, there: commandNames() },
  { title: 'Query operators', names: mongodbNames.filters, there: languageNames.filters },
  { title: 'Update operators', names: mongodbNames.updates, there: languageNames.updates },
  { title: 'Aggregation stages', names: mongodbNames.stages, there: [...stageNames, ...streamStageNames] },
  { title: 'Accumulators', names: mongodbNames.accumulators, there: languageNames.accumulators },
  { title: 'Window operators', names: mongodbNames.windows, there: windowOperators },
  { title: 'Expression operators', names: mongodbNames.expressions, there: languageNames.expressions },
];

const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.map((name) => `\`${name}\``).join(' '));

function familyText({ title, names, there }: Family): string {
  const known = new Set(there.filter((name) => !refusedNames.has(name)));
  const have = names.filter((name) => known.has(name));
  const lack = names.filter((name) => !known.has(name));
  const own = there.filter((name) => !names.includes(name) && !refusedNames.has(name)).toSorted();
  const more = own.length === 0 ? '' : `\n\nBesides: ${listed(own)}.`;
  return `### ${title}\n\n${have.length} of ${names.length}. There: ${listed(have)}.\n\nNot there: ${listed(lack)}.${more}\n`;
}

function differenceText(): string {
  return knownDifferences.map(({ number, title, text }) => `${number}. **${title}.** ${text}`).join('\n');
}

/** What was tried, by kind. A line here is what somebody has seen work, not a promise of a table. */
const tried: readonly (readonly [string, string])[] = [
  ['Drivers', 'those of Node 3, 4, 6 and 7, PyMongo 3.11 and 4 with its own test suite, PHP (`php-mongodb`, the GridFS of its library), the Java driver 3.6, Go 1.8, C 1.23, Perl 2.2, Ruby 2.5, Motor 2.3'],
  ['Object mappers', 'Mongoose 9 with its own test suite, Typegoose with its own test suite (jest) over `MongoMemoryServer` (315 of 316; one counts on the order that `$text` without a sort has in MongoDB), TypeORM, MikroORM, LoopBack, Monk, Mongoist, MongoEngine 0.24'],
  ['Queues and schedulers', 'Agenda 6, Pulse, mongodb-queue, rate-limiter-flexible'],
  ['Sessions and rights', 'connect-mongo, connect-mongodb-session, the adapter of Casbin'],
  ['Tools', 'mongosh, mongo-express, migrate-mongo, mongo-oplog, the Prometheus exporter of Debian (it speaks through mgo, of 2016)'],
];

const triedText = (): string => tried.map(([kind, names]) => `- ${kind}: ${names}.`).join('\n');

/** The page as it should be. */
export function compatibilityPage(): string {
  return `# Compatibility with MongoDB

This page is made from the tables in the code (\`node dist/scripts/compatibility.js\`), and a test compares the two. It speaks of MongoDB 8; the names
are those of its manual without encryption, search services, sharding and telemetry. What is not there is refused by its name: a command with 59,
a stage with 40324, an expression with 168, a query operator with 2.

## Known differences

Each is shown by a test (\`test/compat/compatibility.test.ts\`), which fails when the difference goes. Numbers stay.

${differenceText()}

## What was tried

Each doing its main job against a running server:

${triedText()}

## What is there

${families.map(familyText).join('\n')}`;
}
