// The options of `frond serve`: one table, from which flags, the YAML file, `--help` and the reference page come. Names and spellings of
// mongod are taken where they exist. Values are checked here, so everything behind has them complete and right.

import { FrondUsage } from './usage.ts';

/** How an option's text becomes a value. */
type OptionKind = 'text' | 'port' | 'bytes' | 'flag' | 'milliseconds' | 'gigabytes' | 'megabytes' | 'parameter';

/** One row of the table. */
export interface OptionRow {
  /** Name in the YAML file. */
  readonly path: string;
  /** Flags, the first one as the documentation shows it. */
  readonly flags: readonly string[];
  readonly kind: OptionKind;
  readonly fallback: string | undefined;
  readonly doc: string;
}

const optionTable: readonly OptionRow[] = [
  { path: 'storage.dbPath', flags: ['--dbpath'], kind: 'text', fallback: './data', doc: 'directory of the data; made when it is not there' },
  { path: 'storage.cacheSize', flags: ['--cache'], kind: 'bytes', fallback: undefined, doc: 'the one budget of memory, as 64MB or 2GB; half of the memory less 1 GB when not said' },
  { path: 'storage.wiredTiger.engineConfig.cacheSizeGB', flags: ['--wiredTigerCacheSizeGB'], kind: 'gigabytes', fallback: undefined, doc: 'the same in gigabytes, as mongod spells it' },
  { path: 'storage.checkpointPeriodMs', flags: ['--checkpoint-period'], kind: 'milliseconds', fallback: '60000', doc: 'milliseconds between checkpoints' },
  { path: 'storage.delayedCommitsMs', flags: ['--delayed-commits'], kind: 'milliseconds', fallback: undefined, doc: 'answer writes before they are on disk and sync every so many milliseconds; a crash can take the writes since' },
  { path: 'net.port', flags: ['--port'], kind: 'port', fallback: '27017', doc: 'port for MongoDB clients; 0 picks a free one' },
  { path: 'net.bindIp', flags: ['--bind', '--bind_ip'], kind: 'text', fallback: '127.0.0.1', doc: 'address to listen at' },
  { path: 'net.tls.mode', flags: ['--tlsMode'], kind: 'text', fallback: 'disabled', doc: 'disabled, allowTLS, preferTLS (plain connections are taken too) or requireTLS' },
  { path: 'net.tls.certificateKeyFile', flags: ['--tlsCertificateKeyFile'], kind: 'text', fallback: undefined, doc: 'certificate and private key of this server, PEM' },
  { path: 'net.tls.certificateKeyFilePassword', flags: ['--tlsCertificateKeyFilePassword'], kind: 'text', fallback: undefined, doc: 'password of the private key' },
  { path: 'net.tls.CAFile', flags: ['--tlsCAFile'], kind: 'text', fallback: undefined, doc: 'certificates of those who sign the certificates of clients, PEM; with it clients need one' },
  { path: 'net.tls.CRLFile', flags: ['--tlsCRLFile'], kind: 'text', fallback: undefined, doc: 'certificates that were taken back, PEM' },
  { path: 'net.tls.allowConnectionsWithoutCertificates', flags: ['--tlsAllowConnectionsWithoutCertificates'], kind: 'flag', fallback: 'false', doc: 'take clients without a certificate although there is a CAFile' },
  { path: 'net.tls.allowInvalidCertificates', flags: ['--tlsAllowInvalidCertificates'], kind: 'flag', fallback: 'false', doc: 'take certificates that nobody known has signed; they prove nothing' },
  { path: 'systemLog.path', flags: ['--logpath'], kind: 'text', fallback: undefined, doc: 'file to which the log is written, one JSON document a line; without it warnings and errors go to stderr' },
  { path: 'operationProfiling.slowOpThresholdMs', flags: ['--slowms'], kind: 'milliseconds', fallback: '100', doc: 'commands that take longer are written to the log' },
  { path: 'gateway.port', flags: ['--gateway-port'], kind: 'port', fallback: '8027', doc: 'port of the GridFS gateway and its page; 0 picks a free one' },
  { path: 'gateway.db', flags: ['--gateway-db'], kind: 'text', fallback: 'test', doc: 'database whose buckets the gateway serves' },
  { path: 'gateway.tokensFile', flags: ['--gateway-tokens'], kind: 'text', fallback: undefined, doc: 'file of tokens for the gateway: a line each of the token, its rights (read, write, status, by commas) and perhaps a database' },
  { path: 'gateway.signingKeyFile', flags: ['--gateway-signing-key'], kind: 'text', fallback: undefined, doc: 'file whose bytes sign addresses of the gateway; without it they are valid until the server stops' },
  { path: 'gateway.origins', flags: ['--gateway-origins'], kind: 'text', fallback: undefined, doc: 'origins whose pages may read from the gateway, by commas' },
  { path: 'gateway.enabled', flags: ['--gateway'], kind: 'flag', fallback: 'true', doc: 'whether the gateway runs' },
  { path: 'security.authorization', flags: ['--auth'], kind: 'flag', fallback: 'disabled', doc: 'whether users must log in; needed to listen beyond this machine. The first user is made from this machine' },
  { path: 'replication.replSetName', flags: ['--replSet'], kind: 'text', fallback: 'frond', doc: 'name that drivers see as that of the replica set of one member' },
  { path: 'replication.oplogSizeMB', flags: ['--oplogSize'], kind: 'megabytes', fallback: '1024', doc: 'megabytes of the log of what was done, which change streams read; 0 for none' },
  { path: 'replication.standalone', flags: ['--standalone'], kind: 'flag', fallback: 'false', doc: 'say to clients that this is a standalone server, for old tools' },
  { path: 'setParameter.enableTestCommands', flags: ['--setParameter enableTestCommands=1'], kind: 'parameter', fallback: '0', doc: 'let clients make commands fail on purpose (configureFailPoint), for tests of drivers' },
];

/** Options by their path, as text. */
export type OptionTexts = ReadonlyMap<string, string>;

/** Flags of the command line: what they say, by path; `--config` apart. */
export function readFlags(words: readonly string[]): { readonly texts: Map<string, string>; readonly config: string | undefined } {
  const texts = new Map<string, string>();
  let config: string | undefined;
  let left = [...words];
  while (left.length > 0) {
    const [word = '', ...rest] = left;
    const [flag = '', ...given] = word.split('=');
    if (flag === '--setParameter') {
      left = setParameter(texts, given, rest);
      continue;
    }
    const row = optionTable.find((candidate) => candidate.flags.includes(flag));
    if (row === undefined && flag !== '--config' && flag !== '-f') throw new FrondUsage(`unknown option ${word}`);
    const value = given.length > 0 ? given.join('=') : valueBehind(flag, row, rest);
    left = given.length > 0 || value === undefined ? rest : rest.slice(1);
    if (row === undefined) config = value;
    else texts.set(row.path, value ?? 'true');
  }
  return { texts, config };
}

/** `--setParameter=name=value`, or the assignment in the next word; gives the words that are left. */
function setParameter(texts: Map<string, string>, given: readonly string[], rest: readonly string[]): string[] {
  const [name = '', ...value] = given.length > 0 ? given : (rest[0] ?? '').split('=');
  const parameter = optionTable.find(({ path }) => path === `setParameter.${name}`);
  if (parameter === undefined) throw new FrondUsage(`unknown parameter ${name}`);
  texts.set(parameter.path, value.join('='));
  return rest.slice(given.length > 0 ? 0 : 1);
}

/** The word behind a flag that is its value; a yes-or-no flag needs none. */
function valueBehind(flag: string, row: OptionRow | undefined, rest: readonly string[]): string | undefined {
  const [next] = rest;
  if (row?.kind === 'flag') return next === 'true' || next === 'false' ? next : undefined;
  if (next === undefined) throw new FrondUsage(`${flag} wants a value`);
  return next;
}

/** The leaves of a parsed YAML file by their dotted paths; an unknown one is refused by its name. */
export function readConfig(parsed: unknown, file: string): Map<string, string> {
  const texts = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) walk(inner, path === '' ? name : `${path}.${name}`);
      return;
    }
    if (!optionTable.some((row) => row.path === path)) throw new FrondUsage(`${file}: unknown setting ${path}`);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw new FrondUsage(`${file}: ${path} wants a plain value`);
    texts.set(path, String(value));
  };
  if (parsed !== null && parsed !== undefined) walk(parsed, '');
  return texts;
}

/** The text of one option: flag before file before default. */
export function optionText(texts: OptionTexts, path: string): string | undefined {
  return texts.get(path) ?? optionTable.find((row) => row.path === path)?.fallback;
}

const units: ReadonlyMap<string, number> = new Map([['', 1], ['B', 1], ['K', 1024], ['KB', 1024], ['M', 1024 ** 2], ['MB', 1024 ** 2], ['G', 1024 ** 3], ['GB', 1024 ** 3]]);

/** A size as 64MB, 2GB or a number of bytes. */
export function parseBytes(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text);
  const unit = units.get((match?.[2] ?? '').toUpperCase().replace('IB', 'B'));
  if (match === null || unit === undefined) throw new FrondUsage(`${name} wants a size as 64MB or 2GB, not ${text}`);
  return Math.floor(Number(match[1]) * unit);
}

/** A whole number within bounds. */
export function parseWhole(text: string, name: string, bounds: { readonly low: number; readonly high: number }): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= bounds.low && value <= bounds.high)) throw new FrondUsage(`${name} wants a whole number from ${bounds.low} to ${bounds.high}, not ${text}`);
  return value;
}

/** Yes or no. */
export function parseFlag(text: string, name: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new FrondUsage(`${name} wants true or false, not ${text}`);
}

/** Yes or no as server parameters say it. */
export function parseParameterFlag(text: string, name: string): boolean {
  if (text === '1' || text === '0') return text === '1';
  return parseFlag(text, name);
}

/** Yes or no, also as mongod's file spells it. */
export function parseSwitch(text: string, name: string): boolean {
  if (text === 'enabled' || text === 'disabled') return text === 'enabled';
  return parseFlag(text, name);
}

/** The table in words, for `--help`. */
export function describeOptions(): string {
  return optionTable
    .map((row) => `  ${row.flags.join(', ')}${row.kind === 'flag' || row.kind === 'parameter' ? '' : ' VALUE'}\n      ${row.doc}${row.fallback === undefined ? '' : ` (${row.fallback})`}\n      in the file: ${row.path}`)
    .join('\n');
}
