// What clients ask at every start to learn whom they talk to: ping, buildInfo, whatsmyuri, hostInfo, getCmdLineOpts.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField } from '../fields.ts';
import { MONGODB_VERSION, MONGODB_VERSION_PARTS } from '../product-version.ts';

const ping: Command = defineCommand({
  name: 'ping',
  access: 'none',
  about: 'answers, and so shows that the server is there',
  fields: { ping: anyField },
  run: () => Promise.resolve({}),
});

const buildInfo: Command = defineCommand({
  name: 'buildInfo',
  aliases: ['buildinfo'],
  access: 'none',
  about: 'the version of the server and how it was built',
  fields: { buildInfo: anyField },
  run: ({ server }) =>
    Promise.resolve({
      version: MONGODB_VERSION,
      gitVersion: 'none',
      modules: BsonArray.empty,
      allocator: 'system',
      javascriptEngine: 'none',
      sysInfo: 'deprecated',
      versionArray: BsonArray.of([...MONGODB_VERSION_PARTS]),
      openssl: Document.of({ running: 'none', compiled: 'none' }),
      buildEnvironment: Document.of({ target_arch: server.env.host.architecture, target_os: server.env.host.platform }),
      bits: 64,
      debug: false,
      maxBsonObjectSize: 16 * 1024 * 1024,
      storageEngines: BsonArray.of(['frond']),
      frond: Document.of({ version: server.options.version, runtime: server.env.host.runtimeVersion }),
    }),
});

const whatsmyuri: Command = defineCommand({
  name: 'whatsmyuri',
  access: 'none',
  about: 'the address by which the server knows this client',
  fields: { whatsmyuri: anyField },
  lax: true,
  run: ({ operation }) => Promise.resolve({ you: operation.connection.remote }),
});

/** Clients of 2013 do not speak to a server that gives them no number for a log-in that they may not even want. Those of today have no such command. */
const getnonce: Command = defineCommand({
  name: 'getnonce',
  access: 'none',
  about: 'a number for the first log-in of MongoDB, for clients that ask by OP_QUERY; nobody can log in with it',
  fields: { getnonce: anyField },
  lax: true,
  run: ({ server, request }) => {
    if (!request.legacy) throw new CommandError(59, 'CommandNotFound', "no such command: 'getnonce'");
    const nonce = Array.from(server.env.random.bytes(8), (byte) => byte.toString(16).padStart(2, '0')).join('');
    return Promise.resolve({ nonce });
  },
});

const hostInfo: Command = defineCommand({
  name: 'hostInfo',
  access: 'admin',
  about: 'the machine the server runs on',
  fields: { hostInfo: anyField },
  run: ({ server }) => {
    const { host, clock } = server.env;
    const megabytes = (bytes: number): bigint => BigInt(Math.floor(bytes / (1024 * 1024)));
    return Promise.resolve({
      system: Document.of({
        currentTime: new DateTime(clock.nowMs()),
        hostname: host.hostname,
        cpuAddrSize: 64,
        memSizeMB: megabytes(host.memoryBytes),
        memLimitMB: megabytes(host.memoryLimitBytes),
        numCores: host.cpus,
        numCoresAvailableToProcess: host.cpus,
        numPhysicalCores: host.cpus,
        numCpuSockets: 1,
        cpuArch: host.architecture,
        numaEnabled: false,
        numNumaNodes: 1,
      }),
      os: Document.of({ type: host.platform === 'linux' ? 'Linux' : host.platform, name: host.platform, version: host.release }),
      extra: Document.of({
        versionString: `${host.platform} ${host.release}`,
        libcVersion: '',
        versionSignature: '',
        kernelVersion: host.release,
        cpuFrequencyMHz: '0',
        cpuFeatures: '',
        cpuString: host.architecture,
        scheduler: '',
        runtime: host.runtimeVersion,
        maxOpenFiles: 64_000,
        pageSize: 4096n, numPages: Math.floor(host.memoryBytes / 4096) | 0 }),
    });
  },
});

const getCmdLineOpts: Command = defineCommand({
  name: 'getCmdLineOpts',
  access: 'admin',
  adminOnly: true,
  about: 'the words by which the server was started',
  fields: { getCmdLineOpts: anyField },
  run: ({ server }) => {
    const { commandLine, dbPath, port } = server.options;
    const net = Document.of({ port });
    const storage = Document.of({ dbPath });
    return Promise.resolve({ argv: BsonArray.of([...commandLine]), parsed: Document.of({ net, storage }) });
  },
});

export const IDENTITY_COMMANDS: readonly Command[] = [
  ping,
  buildInfo,
  getnonce,
  whatsmyuri,
  hostInfo,
  getCmdLineOpts,
];
