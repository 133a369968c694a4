// The style rules that a machine can hold (docs/style.md says them in words). Every rule is an error: a rule that only nags is worse than none.
// Each thing let through stands here once, beside its reason; a disable comment in the code needs a reason after `--` and fails when it is no longer needed.
// `no-restricted-syntax`, `no-restricted-globals` and `no-restricted-properties` are not merged between blocks: the last block wins, so blocks spread the lists below.

import { builtinModules } from 'node:module';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { noUnsafeAssertion } from './scripts/lint/no-unsafe-assertion.mjs';

const sources = ['src/**/*.ts'];
/** Layers that run to completion: no other operation can come between two of their lines (docs/decisions/0001-synchronous-core.md). */
const synchronous = ['src/{base,bson,collation,query,wire}/**/*.ts', 'src/engine/{run,tree}/**/*.ts'];
/** The outside world is behind `Env`: only these folders touch it. */
const host = ['src/{env,bin,in-process}/**/*.ts'];
/** Code that drives the product from outside. */
const around = ['{test,bench,scripts}/**/*.ts'];
const plainJs = ['**/*.{js,mjs,cjs}', 'bin/frond'];

const everywhere = [
  ['SwitchStatement[cases.length>12]', 'More than 12 cases: make a table.'],
  ['TSAsExpression > TSAsExpression', 'A double `as` hides a wrong type: parse at the edge.'],
  ['TSEnumDeclaration', 'Use a union of literals and a const table.'],
  ['ExportDefaultDeclaration', 'Named exports only.'],
  ['ExportAllDeclaration', 'No barrels: a public face names what it exports.'],
  [':matches(PropertyDefinition, MethodDefinition[kind!="constructor"])[accessibility="private"]', 'Use #private.'],
  [
    ':matches(ClassDeclaration, ClassExpression)[id.name=/(Manager|Helper|Util|Utils|Service|Wrapper)$/]',
    'Name the class for the thing it is, not for doing things to other things.',
  ],
];
const inSources = [
  ...everywhere,
  // preserve-caught-error knows the built-in classes only; this one knows ours.
  [
    'CatchClause ThrowStatement > NewExpression[callee.name=/Error$/]:not(:has(Property[key.name="cause"]))',
    'Pass { cause } on: what was caught is the half of the story that nobody can guess.',
  ],
  ['ThrowStatement > NewExpression[callee.name="Error"]', 'Throw one of the classes of base/errors.ts.'],
  [
    ':matches(ClassDeclaration, ClassExpression)[superClass]:not([superClass.name=/(Error|Readable|Writable|Duplex|Transform)$/])',
    'Compose: only errors and Node streams inherit.',
  ],
];
const noHiddenClock = [['NewExpression[callee.name="Date"][arguments.length=0]', 'Time comes from Env.clock.']];
const noReexport = [['ExportNamedDeclaration[source]', "Only a layer's index.ts passes on what others export."]];
const noAsync = [
  [':function[async=true]', 'This layer is synchronous.'],
  ['AwaitExpression', 'This layer is synchronous.'],
  ['ForOfStatement[await=true]', 'This layer is synchronous.'],
];
// A u64 read as two u32 is ten times faster than a bigint, and 2^53 is enough for what the engine counts.
const noBigint = [
  ['TSBigIntKeyword', 'Engine numbers are safe integers (branded number).'],
  ['Literal[bigint]', 'Engine numbers are safe integers (branded number).'],
];
const syntax = (...lists) => ['error', ...lists.flat().map(([selector, message]) => ({ selector, message }))];

const timers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate', 'queueMicrotask'];
const hostGlobals = [
  ...timers.map((name) => [name, 'Waiting goes through Env.clock or Env.tasks.']),
  ['process', 'Configuration and process state are read in bin and passed down.'],
  ['performance', 'Time comes from Env.clock.'],
  ['crypto', 'Randomness comes from Env.random.'],
  ['console', 'Log through the injected logger.'],
  ['fetch', 'The network is reached through server, tools and gateway only.'],
];
const globals = (list) => ['error', ...list.map(([name, message]) => ({ name, message }))];
const noBuffer = ['Buffer', 'Uint8Array in signatures; Buffer only inside env and base/{bytes,text}.ts.'];

const browserGlobals = [
  'btoa', 'clearTimeout', 'confirm', 'document', 'fetch', 'getComputedStyle', 'history', 'IntersectionObserver', 'Intl', 'localStorage', 'location', 'navigator', 'performance', 'PerformanceObserver', 'prompt',
  'setTimeout', 'TextEncoder', 'URLSearchParams', 'window', 'XMLHttpRequest',
];

const noMock = {
  name: 'node:test',
  importNames: ['mock'],
  message: 'No mocks: use the in-memory Env.',
};
const nodePrefix = builtinModules
  .filter((name) => !name.startsWith('node:') && !name.startsWith('_'))
  .map((name) => ({ name, message: `Write node:${name}.` }));
const noHostRandom = {
  name: 'node:crypto',
  importNames: ['randomBytes', 'randomInt', 'randomUUID', 'randomFillSync', 'randomFill', 'webcrypto', 'getRandomValues', 'default'],
  message: 'Randomness comes from Env.random.',
};

const limits = {
  'max-lines': ['error', { max: 500, skipBlankLines: false, skipComments: false }],
  'max-lines-per-function': ['error', { max: 70, skipBlankLines: false, skipComments: false, IIFEs: true }],
  complexity: ['error', 15],
  'max-depth': ['error', 4],
  'max-params': ['error', 4],
};

const language = {
  eqeqeq: 'error',
  'no-eval': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'no-empty': 'error',
  'no-unreachable-loop': 'error',
  'no-sparse-arrays': 'error',
  'no-unsafe-finally': 'error',
  'no-fallthrough': 'error',
  'no-useless-assignment': 'error',
  'preserve-caught-error': ['error', { requireCatchParameter: true }],
  // Comments that repeat the next line. A TODO needs an issue number: scripts/tidy.ts looks at those.
  'no-warning-comments': [
    'error',
    {
      terms: ['fixme', 'xxx', 'hack', 'step 1', 'step 2', 'this function', 'this method', 'now we', 'first we', 'next we', 'then we', 'finally we', 'here we', "let's"],
      location: 'start',
    },
  ],
};

const typed = {
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/no-unused-vars': ['error', { caughtErrors: 'all' }],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
  '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
  '@typescript-eslint/strict-boolean-expressions': 'off',
  // Off: it forbids `bytes[i] as number`, which noUncheckedIndexedAccess makes hot loops write, and branded numbers. Ours below allows those.
  '@typescript-eslint/no-unsafe-type-assertion': 'off',
  'frond/no-unsafe-assertion': 'error',
  // Off: there are no enums here (see above), and looking for them takes an eighth of the time.
  '@typescript-eslint/no-unsafe-enum-assignment': 'off',
  '@typescript-eslint/no-unsafe-enum-comparison': 'off',
  // Off: Tasks.submit<I, R> crosses a thread, its types are agreed by the kind of the task.
  '@typescript-eslint/no-unnecessary-type-parameters': 'off',
};

export default defineConfig(
  globalIgnores(['dist/', 'node_modules/', 'coverage/', 'data/', 'bench/compare/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    plugins: { frond: { rules: { 'no-unsafe-assertion': noUnsafeAssertion } } },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      ...limits,
      ...language,
      ...typed,
      'no-restricted-imports': ['error', { paths: [noMock, ...nodePrefix] }],
      'no-restricted-syntax': syntax(everywhere),
    },
  },
  {
    files: sources,
    rules: {
      'no-restricted-syntax': syntax(inSources, noHiddenClock, noReexport),
      'no-restricted-imports': ['error', { paths: [noMock, noHostRandom, ...nodePrefix] }],
      'no-restricted-globals': globals([...hostGlobals, noBuffer]),
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Time comes from Env.clock.' },
        { object: 'Math', property: 'random', message: 'Randomness comes from Env.random.' },
        { object: 'globalThis', message: 'No way around the rule on globals.' },
      ],
    },
  },
  { files: ['src/**/index.ts'], rules: { 'no-restricted-syntax': syntax(inSources, noHiddenClock) } },
  { files: ['src/engine/**/*.ts'], rules: { 'no-restricted-syntax': syntax(inSources, noHiddenClock, noReexport, noBigint) } },
  { files: ['src/engine/index.ts'], rules: { 'no-restricted-syntax': syntax(inSources, noHiddenClock, noBigint) } },
  { files: synchronous, rules: { 'no-restricted-syntax': syntax(inSources, noHiddenClock, noReexport, noAsync) } },
  { files: ['src/{base,bson,collation,query,wire}/index.ts'], rules: { 'no-restricted-syntax': syntax(inSources, noHiddenClock, noAsync) } },
  {
    files: ['src/engine/{run,tree}/**/*.ts'],
    rules: { 'no-restricted-syntax': syntax(inSources, noHiddenClock, noReexport, noAsync, noBigint) },
  },
  // State that an await may have made old: noisy, so only where a race loses data.
  { files: ['src/{engine,session}/**/*.ts'], rules: { 'require-atomic-updates': 'error' } },
  // `subarray` makes an object, so the hot layers pass a range of bytes as three parameters: (bytes, start, end).
  { files: ['src/{base,bson}/**/*.ts', 'src/engine/{run,tree}/**/*.ts'], rules: { 'max-params': ['error', 6] } },
  // One comparer, joiner and UTF-8 codec for all: the native ones are several times faster on long inputs.
  { files: ['src/base/{bytes,text}.ts'], rules: { 'no-restricted-globals': globals(hostGlobals) } },
  {
    files: host,
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-imports': ['error', { paths: [noMock, ...nodePrefix] }],
      'no-restricted-syntax': syntax(inSources, noReexport),
    },
  },
  { files: ['src/{env,bin,in-process}/index.ts', 'src/in-process/engine.ts'], rules: { 'no-restricted-syntax': syntax(inSources) } },
  {
    // Tests, benches and scripts drive the product from outside: host access is their work, and a scenario reads best in one piece.
    files: around,
    rules: {
      'max-lines-per-function': ['error', { max: 150, IIFEs: true }],
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite'] }] },
      ],
      // A test may say what it knows to be there; a wrong `!` fails the test.
      '@typescript-eslint/no-non-null-assertion': 'off',
      'frond/no-unsafe-assertion': 'off',
      // A fake of an asynchronous face has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Launchers and tool configurations: they run before anything is built, so they are plain JavaScript; tools want a default export.
    files: plainJs,
    languageOptions: { globals: { process: 'readonly', console: 'readonly', module: 'writable', URL: 'readonly', TextDecoder: 'readonly', TextEncoder: 'readonly', require: 'readonly', __filename: 'readonly' } },
    rules: { ...limits, ...language, 'no-undef': 'error', 'no-unused-vars': 'error' },
  },
  {
    // What a browser runs.
    files: ['src/gateway/page/*.js'],
    languageOptions: { globals: Object.fromEntries(browserGlobals.map((name) => [name, 'readonly'])) },
  },
);
