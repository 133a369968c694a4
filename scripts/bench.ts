// `npm run bench -- [substring ...] [--runs N]`: measures the benches whose name has one of the substrings, one JSON line for each set of parameters.
// Figures are comparable within one run only: a claim is a ratio of two lines of the same output.

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measure } from '../bench/support/bench.ts';
import { collectBenches } from '../bench/support/collect.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { runs: { type: 'string', default: '5' } } });
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
const machine = `${cpus()[0]?.model.trim() ?? 'unknown'} x${availableParallelism()}, node ${process.version}`;
const chosen = (await collectBenches()).filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)));

for (const bench of chosen) {
  for (const parameters of bench.large) {
    console.log(JSON.stringify({ ...(await measure(bench, parameters, Number(values.runs))), commit, machine }));
  }
}
if (chosen.length === 0) {
  console.error(`no bench matches ${positionals.join(' ')}`);
  process.exitCode = 1;
}
