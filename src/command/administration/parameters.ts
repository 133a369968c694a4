// Server parameters by name: getParameter, setParameter, and setFeatureCompatibilityVersion, which is one with a command of its own.
// A table; a name that is not in it is refused (72), as MongoDB does.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, isNumber, type Value } from '../../bson/index.ts';
import { CURSOR_TIMEOUT_MS, SESSION_TIMEOUT_MINUTES } from '../../session/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, boolField, parseFields, required, stringField, wordField, type FieldTable } from '../fields.ts';
import { FEATURE_VERSION } from '../product-version.ts';
import { toInt64Truncated } from '../number-fields.ts';
import type { ServerState } from '../server-state.ts';

interface Parameter {
  readonly get: (server: ServerState) => Value;
  /** Absent: it cannot be set while the server runs. */
  readonly set?: (server: ServerState, value: Value) => void;
}

function constant(value: Value): Parameter {
  return { get: () => value };
}

function positiveInteger(name: string, value: Value): number {
  const number = isNumber(value) ? Number(toInt64Truncated(value)) : Number.NaN;
  if (number >= 1) return number;
  throw new CommandError(2, 'BadValue', `Invalid value for parameter ${name}: it must be greater than or equal to 1`);
}

const PARAMETERS: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ['authenticationMechanisms', constant(BsonArray.of(['SCRAM-SHA-1', 'SCRAM-SHA-256']))],
  ['cursorTimeoutMillis', constant(BigInt(CURSOR_TIMEOUT_MS))],
  ['enableTestCommands', { get: (server) => server.options.testCommands }],
  ['featureCompatibilityVersion', constant(Document.of({ version: FEATURE_VERSION }))],
  ['localLogicalSessionTimeoutMinutes', constant(SESSION_TIMEOUT_MINUTES)],
  ['logLevel', constant(0)],
  ['quiet', constant(false)],
  ['requireApiVersion', constant(false)],
  ['storageEngineConcurrencyAdjustmentAlgorithm', constant('none')],
  ['supportedMechanisms', constant(BsonArray.empty)],
  [
    'transactionLifetimeLimitSeconds',
    {
      get: (server) => server.transactionLifetimeSeconds,
      set: (server, value) => {
        server.transactionLifetimeSeconds = positiveInteger('transactionLifetimeLimitSeconds', value);
      },
    },
  ],
]);

const ASKED_FIELDS = {
  showDetails: boolField,
  allParameters: boolField,
  setAt: wordField(['startup', 'runtime']),
} satisfies FieldTable;

/** What getParameter was asked for: all, or the names that are fields of the command. */
function askedNames(body: Document): { all: boolean; details: boolean; names: string[] } {
  const first = body.first?.[1];
  const asked = first instanceof Document ? parseFields('getParameter', first, ASKED_FIELDS) : undefined;
  const names = body.keys().slice(1).filter((name) => PARAMETERS.has(name));
  return { all: first === '*' || asked?.allParameters === true, details: asked?.showDetails === true, names };
}

const getParameter: Command = defineCommand({
  name: 'getParameter',
  access: 'admin',
  adminOnly: true,
  about: 'values of server parameters',
  fields: { getParameter: anyField },
  lax: true,
  run: ({ server, request }) => {
    const { all, details, names } = askedNames(request.body);
    const shown = all ? [...PARAMETERS.keys()] : names;
    if (shown.length === 0) throw new CommandError(72, 'InvalidOptions', 'no option found to get');
    const fields = shown.map((name): [string, Value] => {
      const parameter = PARAMETERS.get(name);
      const value = parameter?.get(server) ?? null;
      if (!details) return [name, value];
      return [name, Document.of({ value, settableAtRuntime: parameter?.set !== undefined, settableAtStartup: false })];
    });
    return Promise.resolve(Document.fromEntries(fields));
  },
});

const setParameter: Command = defineCommand({
  name: 'setParameter',
  access: 'admin',
  adminOnly: true,
  about: 'sets a server parameter',
  fields: { setParameter: anyField },
  lax: true,
  run: ({ server, request }) => {
    for (const [name, value] of request.body.fields.slice(1)) {
      const parameter = PARAMETERS.get(name);
      if (parameter === undefined) continue;
      if (parameter.set === undefined) {
        throw new CommandError(20, 'IllegalOperation', `not allowed to change [${name}] at runtime`);
      }
      const was = parameter.get(server);
      parameter.set(server, value);
      return Promise.resolve({ was });
    }
    throw new CommandError(72, 'InvalidOptions', 'no option found to set, use help:true to see options ');
  },
});

const setFeatureCompatibilityVersion: Command = defineCommand({
  name: 'setFeatureCompatibilityVersion',
  access: 'admin',
  adminOnly: true,
  writeConcern: true,
  about: 'keeps to the features of a version; only the present one can be named',
  fields: { setFeatureCompatibilityVersion: required(stringField), confirm: boolField },
  run: (_context, { setFeatureCompatibilityVersion: version, confirm }) => {
    if (version !== FEATURE_VERSION) {
      const text = `Invalid feature compatibility version value '${version}'; expected '${FEATURE_VERSION}'.`;
      throw new CommandError(2, 'BadValue', text);
    }
    if (confirm !== true) {
      const text = `Once you have upgraded to ${FEATURE_VERSION}, you will not be able to downgrade FCV and binary version without support assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV upgrade.`;
      throw new CommandError(7369100, 'Location7369100', text);
    }
    return Promise.resolve({});
  },
});

export const PARAMETER_COMMANDS: readonly Command[] = [getParameter, setParameter, setFeatureCompatibilityVersion];
