// The complete options of a server, from flags, file and defaults.

import { parse } from 'yaml';
import type { Env } from '../env/index.ts';
import { optionText, parseBytes, parseFlag, parseParameterFlag, parseSwitch, parseWhole, readConfig, readFlags } from './option-table.ts';
import type { OptionTexts } from './option-table.ts';
import { FrondUsage } from './usage.ts';

/** What a server is started with. */
export interface ServeOptions {
  readonly dbPath: string;
  readonly cacheBytes: number;
  readonly checkpointPeriodMs: number;
  /** Undefined: a write is answered when it is on disk. */
  readonly delayedCommitsMs: number | undefined;
  readonly port: number;
  readonly bindIp: string;
  /** Undefined: no gateway. */
  readonly gatewayPort: number | undefined;
  readonly gatewayDb: string;
  readonly replSetName: string;
  readonly standalone: boolean;
  /** Whether clients may make commands fail on purpose. */
  readonly testCommands: boolean;
  /** Whether users must log in. */
  readonly authorization: boolean;
}

const MiB = 1024 * 1024;
const cacheBytesMin = 8 * MiB;

/** Half of the memory this process may use, less 1 GiB; never under 64 MiB. */
function defaultCacheBytes(env: Env): number {
  return Math.max(64 * MiB, Math.floor(env.host.memoryLimitBytes / 2 - 1024 * MiB));
}

/** Reads the words behind `frond serve`, and the file that `--config` names. Wrong ones are FrondUsage. */
export async function serveOptions(env: Env, words: readonly string[]): Promise<ServeOptions> {
  const { texts, config } = readFlags(words);
  const file = config === undefined ? new Map<string, string>() : await readFile(env, config);
  return completeOptions(env, new Map([...file, ...texts]));
}

async function readFile(env: Env, path: string): Promise<Map<string, string>> {
  if (!(await env.files.exists(path))) throw new FrondUsage(`there is no configuration file ${path}`);
  const text = new TextDecoder().decode(await env.files.readAll(path));
  try {
    const parsed: unknown = parse(text);
    return readConfig(parsed, path);
  } catch (cause) {
    if (cause instanceof FrondUsage) throw cause;
    throw new FrondUsage(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function completeOptions(env: Env, texts: OptionTexts): ServeOptions {
  const text = (path: string): string => optionText(texts, path) ?? '';
  const port = (path: string): number => parseWhole(text(path), path, { low: 0, high: 65535 });
  const delayed = optionText(texts, 'storage.delayedCommitsMs');
  return {
    dbPath: text('storage.dbPath'),
    cacheBytes: cacheBytes(env, texts),
    checkpointPeriodMs: parseWhole(text('storage.checkpointPeriodMs'), 'storage.checkpointPeriodMs', { low: 100, high: 86_400_000 }),
    delayedCommitsMs: delayed === undefined ? undefined : parseWhole(delayed, 'storage.delayedCommitsMs', { low: 1, high: 60_000 }),
    port: port('net.port'),
    bindIp: text('net.bindIp'),
    gatewayPort: parseFlag(text('gateway.enabled'), 'gateway.enabled') ? port('gateway.port') : undefined,
    gatewayDb: text('gateway.db'),
    replSetName: text('replication.replSetName'),
    authorization: parseSwitch(text('security.authorization'), '--auth'),
    standalone: parseFlag(text('replication.standalone'), 'replication.standalone'),
    testCommands: parseParameterFlag(text('setParameter.enableTestCommands'), 'setParameter.enableTestCommands'),
  };
}

function cacheBytes(env: Env, texts: OptionTexts): number {
  const size = optionText(texts, 'storage.cacheSize');
  const gigabytes = optionText(texts, 'storage.wiredTiger.engineConfig.cacheSizeGB');
  let bytes = defaultCacheBytes(env);
  if (size !== undefined) bytes = parseBytes(size, '--cache');
  else if (gigabytes !== undefined) bytes = parseBytes(`${gigabytes}GB`, '--wiredTigerCacheSizeGB');
  if (bytes < cacheBytesMin) throw new FrondUsage(`--cache wants at least ${cacheBytesMin / MiB}MB`);
  return bytes;
}
