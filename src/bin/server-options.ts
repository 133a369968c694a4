// The complete options of a server, from flags, file and defaults.

import type { Env, TlsSettings } from '../env/index.ts';
import { optionText, parseBytes, parseFlag, parseParameterFlag, parseSwitch, parseWhole, readConfig, readFlags } from './option-table.ts';
import type { OptionTexts } from './option-table.ts';
import type { AccessWords } from './gateway-access.ts';
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
  readonly gatewayAccess: AccessWords;
  readonly replSetName: string;
  readonly standalone: boolean;
  /** Most bytes of the log of what was done; 0: none is kept. */
  readonly oplogBytes: number;
  /** Whether clients may make commands fail on purpose. */
  readonly testCommands: boolean;
  /** Whether users must log in. */
  readonly authorization: boolean;
  /** Undefined: no TLS. */
  readonly tls: TlsSettings | undefined;
  /** File of the log; undefined: warnings and errors go to stderr. */
  readonly logPath: string | undefined;
  readonly slowMs: number;
  /** The words of the command line, secrets left out. */
  readonly commandLine: readonly string[];
  /** What was said, by its path in the configuration file. */
  readonly parsed: ReadonlyMap<string, string>;
}

const MiB = 1024 * 1024;
const cacheBytesMin = 8 * MiB;

/** What the server holds besides its cache (decision 5). */
const besidesCache = 150_000_000;

/** Half of the memory this process may use, less 1 GiB; never under 64 MiB, unless there is no room for that and what is held besides. */
function defaultCacheBytes(env: Env): number {
  const { memoryLimitBytes } = env.host;
  const least = Math.max(cacheBytesMin, Math.min(64 * MiB, memoryLimitBytes - besidesCache));
  return Math.max(Math.floor(least), Math.floor(memoryLimitBytes / 2 - 1024 * MiB));
}

/** Reads the words behind `frond serve`, and the file that `--config` names. Wrong ones are FrondUsage. */
export async function serveOptions(env: Env, words: readonly string[]): Promise<ServeOptions> {
  const { texts, config } = readFlags(words);
  const file = config === undefined ? new Map<string, string>() : await readFile(env, config);
  const said = new Map([...file, ...texts]);
  return { ...(await completeOptions(env, said)), commandLine: ['frond', 'serve', ...words.map(hidden)], parsed: new Map([...said].filter(([path]) => !path.endsWith('Password'))) };
}

async function readFile(env: Env, path: string): Promise<Map<string, string>> {
  if (!(await env.files.exists(path))) throw new FrondUsage(`there is no configuration file ${path}`);
  const text = new TextDecoder().decode(await env.files.readAll(path));
  const { parse } = await import('yaml');
  try {
    const parsed: unknown = parse(text);
    return readConfig(parsed, path);
  } catch (cause) {
    if (cause instanceof FrondUsage) throw cause;
    throw new FrondUsage(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** A word of the command line as it may be told: what follows a password's flag is not shown. */
function hidden(word: string, at: number, words: readonly string[]): string {
  if (words[at - 1]?.endsWith('Password') === true) return '<password>';
  return word.replace(/(Password=).*/, '$1<password>');
}

async function completeOptions(env: Env, texts: OptionTexts): Promise<Omit<ServeOptions, 'commandLine' | 'parsed'>> {
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
    gatewayAccess: { tokensFile: optionText(texts, 'gateway.tokensFile'), signingKeyFile: optionText(texts, 'gateway.signingKeyFile'), origins: optionText(texts, 'gateway.origins') },
    replSetName: text('replication.replSetName'),
    authorization: parseSwitch(text('security.authorization'), '--auth'),
    tls: await tlsSettings(env, texts),
    logPath: optionText(texts, 'systemLog.path'),
    slowMs: parseWhole(text('operationProfiling.slowOpThresholdMs'), '--slowms', { low: 0, high: 86_400_000 }),
    standalone: parseFlag(text('replication.standalone'), 'replication.standalone'),
    oplogBytes: parseWhole(text('replication.oplogSizeMB'), 'replication.oplogSizeMB', { low: 0, high: 1 << 30 }) * MiB,
    testCommands: parseParameterFlag(text('setParameter.enableTestCommands'), 'setParameter.enableTestCommands'),
  };
}

async function tlsSettings(env: Env, texts: OptionTexts): Promise<TlsSettings | undefined> {
  const text = (name: string): string | undefined => optionText(texts, `net.tls.${name}`);
  const mode = text('mode') ?? '';
  if (mode === 'disabled') return undefined;
  if (!['allowTLS', 'preferTLS', 'requireTLS'].includes(mode)) throw new FrondUsage(`--tlsMode wants disabled, allowTLS, preferTLS or requireTLS, not ${mode}`);
  const file = async (name: string): Promise<Uint8Array | undefined> => {
    const path = text(name);
    if (path === undefined) return undefined;
    if (!(await env.files.exists(path))) throw new FrondUsage(`there is no file ${path} (net.tls.${name})`);
    return await env.files.readAll(path);
  };
  const certificateKey = await file('certificateKeyFile');
  if (certificateKey === undefined) throw new FrondUsage(`--tlsMode ${mode} needs --tlsCertificateKeyFile`);
  return {
    required: mode === 'requireTLS',
    certificateKey,
    password: text('certificateKeyFilePassword'),
    authority: await file('CAFile'),
    revoked: await file('CRLFile'),
    certificateOptional: parseFlag(text('allowConnectionsWithoutCertificates') ?? '', '--tlsAllowConnectionsWithoutCertificates'),
    invalidAllowed: parseFlag(text('allowInvalidCertificates') ?? '', '--tlsAllowInvalidCertificates'),
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
