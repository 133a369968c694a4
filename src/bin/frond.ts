// The product's one command: the first word chooses, the rest is for what it chooses. Only what was chosen is loaded: a server starts sooner and
// holds less without the tools, and the collector's settings are made before there is much for it to collect.

import { keepGarbageSmall } from './garbage.ts';
import { describeOptions } from './option-table.ts';
import { FrondUsage } from './usage.ts';

interface Subcommand {
  readonly doc: string;
  readonly run: (words: readonly string[]) => Promise<number>;
}

async function runServer(words: readonly string[]): Promise<number> {
  keepGarbageSmall();
  const { serve } = await import('./serve.ts');
  return await serve(words);
}

async function runBench(words: readonly string[]): Promise<number> {
  const [what, ...rest] = words;
  if (what === 'append') return await (await import('./bench-append.ts')).runAppendBench(rest);
  if (what === 'gridfs') return await (await import('./bench-gridfs.ts')).benchGridFs(rest);
  throw new FrondUsage('frond bench append and frond bench gridfs are what there is');
}

const subcommands: ReadonlyMap<string, Subcommand> = new Map([
  ['serve', { doc: 'run the server and the gateway', run: runServer }],
  ['gateway', { doc: 'run the gateway in front of another MongoDB server (--mongo); --port, --bind, --db, --tokens, --signing-key and --origins as for serve; --login database asks for users of that server', run: async (words) => await (await import('./gateway.ts')).runGateway(words) }],
  ['verify', { doc: 'check a data directory (--dbpath) that no server has open', run: async (words) => await (await import('./verify.ts')).runVerify(words) }],
  ['backup', { doc: 'copy the data of a running server (--uri) into a directory of its machine (--to) while it goes on', run: async (words) => await (await import('./backup.ts')).runBackup(words) }],
  ['salvage', { doc: 'copy all that can be read of a damaged data directory (--dbpath) into a fresh one (--to)', run: async (words) => await (await import('./salvage.ts')).runSalvage(words) }],
  ['inspect', { doc: 'superblocks, trees and log of a data directory (--dbpath) in words', run: async (words) => await (await import('./inspect.ts')).runInspect(words) }],
  ['bench', { doc: 'bench append: what each way to write the log costs on this disk (--dir, --count, --sizes); bench gridfs: what chunk and read sizes cost (--files, --size, --chunks, --reads, --cache, or --mongo for another server)', run: runBench }],
  ['import', { doc: 'CSV, TSV or JSON into a collection; frond import --help tells its options', run: async (words) => await (await import('./import.ts')).runImport(words) }],
]);

function help(): string {
  const list = [...subcommands].map(([name, { doc }]) => `  ${name.padEnd(10)} ${doc}`).join('\n');
  return `usage: frond COMMAND [options]\n\n${list}\n\nOptions of serve:\n${describeOptions()}\n  --config FILE\n      a YAML file with the settings named above`;
}

async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === 'help' || name === '--help' || (name === 'serve' && rest.includes('--help'))) {
    console.log(help());
    return name === undefined ? 2 : 0;
  }
  const subcommand = subcommands.get(name);
  if (subcommand === undefined) throw new FrondUsage(`unknown command ${name}; frond help lists them`);
  return await subcommand.run(rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof FrondUsage)) throw error;
  console.error(`frond: ${error.message}`);
  process.exitCode = 2;
}
