// The product's one command: the first word chooses, the rest is for what it chooses. Only what was chosen is loaded: a server starts sooner and
// holds less without the tools, and the collector's settings are made before there is much for it to collect.

import { readFileSync } from 'node:fs';
import { compileSoon } from './compiling.ts';
import { keepGarbageSmall } from './garbage.ts';
import { describeCommand, describeCommands, manualPages } from './manual.ts';
import { FrondUsage } from './usage.ts';

type Subcommand = (words: readonly string[]) => Promise<number>;

async function runServer(words: readonly string[]): Promise<number> {
  keepGarbageSmall();
  compileSoon();
  const { serve } = await import('./serve.ts');
  return await serve(words);
}

async function runGateway(words: readonly string[]): Promise<number> {
  keepGarbageSmall();
  return await (await import('./gateway.ts')).runGateway(words);
}

async function runBench(words: readonly string[]): Promise<number> {
  const [what, ...rest] = words;
  if (what === 'append') return await (await import('./bench-append.ts')).runAppendBench(rest);
  // As the server that it is about.
  keepGarbageSmall();
  if (what === 'gridfs') return await (await import('./bench-gridfs.ts')).benchGridFs(rest);
  throw new FrondUsage('frond bench append and frond bench gridfs are what there is');
}

const subcommands: ReadonlyMap<string, Subcommand> = new Map<string, Subcommand>([
  ['serve', runServer],
  ['gateway', runGateway],
  ['verify', async (words) => await (await import('./verify.ts')).runVerify(words)],
  ['backup', async (words) => await (await import('./backup.ts')).runBackup(words)],
  ['salvage', async (words) => await (await import('./salvage.ts')).runSalvage(words)],
  ['inspect', async (words) => await (await import('./inspect.ts')).runInspect(words)],
  ['bench', runBench],
  ['import', async (words) => await (await import('./import.ts')).runImport(words)],
]);

/** Those that tell of their options themselves. */
const ownHelp: ReadonlySet<string> = new Set(['import', 'bench append']);

function version(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return typeof file === 'object' && file !== null && 'version' in file ? String(file.version) : 'unknown';
}

/** Prints what `frond help` says of a command, or of all. */
async function showHelp(words: readonly string[]): Promise<number> {
  const [name] = words;
  if (name === undefined) {
    console.log(describeCommands());
    return 0;
  }
  const page = manualPages.get(name);
  if (page === undefined) throw new FrondUsage(`unknown command ${name}; frond help lists them`);
  const own = [name, words.slice(0, 2).join(' ')].find((command) => ownHelp.has(command));
  if (own !== undefined) return await run(name, [...own.split(' ').slice(1), '--help']);
  console.log(describeCommand(name, page));
  return 0;
}

async function run(name: string, words: readonly string[]): Promise<number> {
  const subcommand = subcommands.get(name);
  if (subcommand === undefined) throw new FrondUsage(`unknown command ${name}; frond help lists them`);
  return await subcommand(words);
}

async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === '--version' || name === 'version') {
    console.log(`frond ${version()}`);
    return 0;
  }
  if (name === undefined) {
    console.log(describeCommands());
    return 2;
  }
  if (name === 'help' || name === '--help') return await showHelp(rest);
  return rest.includes('--help') ? await showHelp(words) : await run(name, rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof FrondUsage)) throw error;
  console.error(`frond: ${error.message}`);
  process.exitCode = 2;
}
