// Who may import whom: the rules are made from the tables here, which are those of docs/style.md.
// A layer is reached through its index.ts only (files of base directly); an arrow that is not in the table is an error, also for a type.

/** Layer -> what it may import besides itself and base. */
const layers = {
  base: [],
  env: [],
  engine: ['env'],
  bson: [],
  collation: ['bson'],
  wire: ['bson'],
  query: ['bson', 'collation'],
  session: ['env', 'bson'],
  exec: ['env', 'bson', 'collation', 'query', 'session'],
  catalog: ['env', 'bson', 'collation', 'engine', 'query'],
  plan: ['env', 'bson', 'collation', 'query', 'session', 'exec', 'catalog'],
  auth: ['env', 'bson', 'session'],
  gridfs: ['bson', 'session', 'catalog'],
  replication: ['env', 'bson', 'engine', 'session', 'catalog'],
  command: ['env', 'bson', 'collation', 'query', 'session', 'exec', 'catalog', 'plan', 'auth', 'gridfs', 'replication'],
  router: ['env', 'bson', 'wire', 'query', 'session', 'exec', 'auth'],
  server: ['env', 'bson', 'wire', 'session', 'auth'],
  gateway: ['env', 'session', 'auth', 'gridfs'],
  tools: ['env', 'engine', 'bson', 'wire', 'catalog'],
};
// bin, in-process and src/index.ts compose: they may import every layer.
layers.bin = Object.keys(layers);
layers['in-process'] = Object.keys(layers);

/** The same inside engine. The files at the engine's root compose and are imported by none of these, but for types.ts, which imports no part. */
const engineParts = {
  run: [],
  block: [],
  blob: [],
  wal: [],
  cache: ['block'],
  tree: ['run', 'cache', 'block', 'blob'],
  txn: ['run', 'wal', 'tree'],
  checkpoint: ['wal', 'block', 'blob', 'tree'],
  loader: ['run', 'block', 'tree'],
  backup: ['block', 'blob', 'wal'],
  salvage: ['run', 'block', 'blob', 'wal', 'tree', 'checkpoint'],
};

/** Runtime package -> the only place that knows it, so that each can be replaced by touching one folder. */
const packageOwners = {
  bson: 'src/bson/',
  '@foxglove/wasm-zstd': 'src/env/',
  '@fastify/busboy': 'src/gateway/',
  mongodb: 'src/gridfs/remote\\.ts$',
  mrmime: 'src/gateway/',
  re2js: 'src/query/',
  'snowball-stemmers': 'src/query/',
  yaml: 'src/bin/',
};

/** Node's modules outside env and bin; anything that is not here comes through Env. */
const nodeModules = {
  base: ['buffer', 'module'], // native comparing and UTF-8, which lint holds to two files; modules that are loaded when first wanted
  auth: ['crypto'], // digests of SCRAM; randomness is banned by lint
  gridfs: ['crypto'], // digests
  gateway: ['crypto', 'http', 'https', 'stream', 'stream/promises'], // HTTP is this layer's subject
  tools: ['net', 'tls'], // the minimal wire client
};

const escape = (name) => name.replace(/[/.]/g, '\\$&');
const oneOf = (names) => `(${names.join('|')})`;

const layerRules = Object.entries(layers).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  comment: `${layer} may import ${['base', ...allowed].join(', ')} only`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: `^src/${oneOf([...new Set([layer, 'base', ...allowed])])}/` },
}));

const enginePartRules = Object.entries(engineParts).map(([part, allowed]) => ({
  name: `layer-engine-${part}`,
  comment: `engine/${part} may import base, env and ${allowed.map((name) => `engine/${name}`).join(', ') || 'no sibling'} only`,
  severity: 'error',
  from: { path: `^src/engine/${part}/` },
  to: { path: '^src/engine/', pathNot: [`^src/engine/${oneOf([part, ...allowed])}/`, '^src/engine/types\\.ts$'] },
}));

const nodeModuleRules = Object.keys(layers)
  .filter((layer) => layer !== 'env' && layer !== 'bin' && layer !== 'in-process')
  .map((layer) => ({
    name: 'only-env-touches-host',
    comment: 'files, clock, network, randomness and processes come through Env',
    severity: 'error',
    from: { path: `^src/${layer}/` },
    to: {
      dependencyTypes: ['core'],
      ...(nodeModules[layer] === undefined ? {} : { pathNot: `^(node:)?${oneOf(nodeModules[layer].map(escape))}$` }),
    },
  }));

const packageRules = Object.entries(packageOwners).map(([name, owner]) => ({
  name: name === 'bson' ? 'only-bson-knows-bson' : 'only-owner-knows-package',
  comment: `only ${owner} may import ${name}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^${owner}` },
  to: { path: `(^|/)node_modules/${escape(name)}/` },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    ...enginePartRules,
    ...nodeModuleRules,
    ...packageRules,
    {
      name: 'layer-unknown',
      comment: 'a folder below src, or below src/engine, stands in a table here; else no rule would hold it',
      severity: 'error',
      from: {
        path: ['^src/[^/]+/', '^src/engine/[^/]+/'],
        pathNot: [`^src/${oneOf(Object.keys(layers).filter((layer) => layer !== 'engine'))}/`, `^src/engine/(${Object.keys(engineParts).join('|')})/`, '^src/engine/[^/]+$'],
      },
      to: {},
    },
    {
      name: 'no-private-import',
      comment: "another layer is reached through its index.ts; only base's files are imported directly",
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/base/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'no-private-import-at-root',
      comment: 'the package face composes layers through their faces',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/base/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'tests-use-faces',
      comment: 'a test may look inside the layer it is named for, a micro bench inside all; every other layer through its index.ts',
      severity: 'error',
      from: { path: '^(?:test|bench)/([^/]+)/', pathNot: '^bench/micro/' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/base/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'product-without-tests',
      comment: 'what ships knows nothing of tests, benches and scripts',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'no-dev-dependency',
      comment: 'a package that the product imports stands in dependencies',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-circular', comment: 'types included', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-grab-bag',
      comment: 'if something fits nowhere, the design is missing a noun',
      severity: 'error',
      from: {},
      to: { path: ['/(utils?|helpers?|common|misc|shared|lib)\\.ts$', '^src/.+/(utils?|helpers?|common|misc|shared|lib|core)/'] },
    },
    {
      name: 'no-orphans',
      comment: 'imports nothing and is imported by nobody',
      severity: 'error',
      from: { orphan: true, path: '^(src|test|bench)/', pathNot: ['\\.d\\.ts$', '^src/gateway/page/[^/]+\\.js$'] },
      to: {},
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|bench/compare)/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'require', 'default', 'types'],
    },
  },
};
