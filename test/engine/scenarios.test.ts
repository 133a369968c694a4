import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { scenarios } from './scenarios.ts';

for (const [name, run] of Object.entries(scenarios)) void test(name, async () => run(openEnvironment));
