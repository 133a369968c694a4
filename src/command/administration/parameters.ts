// Server parameters by name: getParameter, setParameter, and setFeatureCompatibilityVersion, which is one with a command of its own.
// A name that is not in the table is refused (72), as MongoDB does.

import { CommandError } from '../../base/errors.ts';
import { Document, type Value } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, boolField, parseFields, required, stringField, wordField, type FieldTable } from '../fields.ts';
import { GENERIC_FIELD_NAMES } from '../generic-field-names.ts';
import { FEATURE_VERSIONS } from '../product-version.ts';
import { PARAMETERS, type Parameter } from './parameter-table.ts';

const ASKED_FIELDS = {
  showDetails: boolField,
  allParameters: boolField,
  setAt: wordField(['startup', 'runtime']),
} satisfies FieldTable;

/** What getParameter was asked for: all, or the names that are fields of the command. */
function askedNames(body: Document): { all: boolean; details: boolean; setAt: 'startup' | 'runtime' | undefined; names: string[] } {
  const first = body.first?.[1];
  const asked = first instanceof Document ? parseFields('getParameter', first, ASKED_FIELDS) : undefined;
  const names = body.keys().slice(1).filter((name) => PARAMETERS.has(name));
  return { all: first === '*' || asked?.allParameters === true, details: asked?.showDetails === true, setAt: asked?.setAt, names };
}

/** Whether a parameter may be set at the time that was asked for. */
function fits(parameter: Parameter | undefined, setAt: 'startup' | 'runtime' | undefined): boolean {
  if (setAt === undefined) return true;
  return setAt === 'startup' ? parameter?.atStartup === true : parameter?.set !== undefined;
}

const getParameter: Command = defineCommand({
  name: 'getParameter',
  access: 'admin',
  adminOnly: true,
  about: 'values of server parameters',
  fields: { getParameter: anyField },
  lax: true,
  run: ({ server, request }) => {
    const { all, details, setAt, names } = askedNames(request.body);
    const shown = (all ? [...PARAMETERS.keys()] : names).filter((name) => fits(PARAMETERS.get(name), setAt));
    if (shown.length === 0) throw new CommandError(72, 'InvalidOptions', 'no option found to get');
    const fields = shown.map((name): [string, Value] => {
      const parameter = PARAMETERS.get(name);
      const value = parameter?.get(server) ?? null;
      if (!details) return [name, value];
      return [name, Document.of({ value, settableAtRuntime: parameter?.set !== undefined, settableAtStartup: parameter?.atStartup === true })];
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
    const given = request.body.fields.slice(1).filter(([name]) => !GENERIC_FIELD_NAMES.has(name) || PARAMETERS.has(name));
    if (given.length === 0) throw new CommandError(72, 'InvalidOptions', 'no option found to set, use help:true to see options ');
    const chosen = given.map(([name, value]) => ({ name, value, parameter: settable(name) }));
    const [first] = chosen;
    const was = first?.parameter.get(server);
    for (const { parameter, value } of chosen) parameter.set?.(server, value);
    const by = server.log;
    by.write({ severity: 'I', component: 'COMMAND', id: 23435, message: 'Successfully set parameter to new value' }, { parameterName: first?.name, newValue: first?.value });
    return Promise.resolve({ was });
  },
});

/** The parameter of this name, if it can be set while the server runs. */
function settable(name: string): Parameter {
  const parameter = PARAMETERS.get(name);
  if (parameter === undefined) throw new CommandError(72, 'InvalidOptions', `attempted to set unrecognized parameter [${name}], use help:true to see options `);
  if (parameter.set === undefined) throw new CommandError(20, 'IllegalOperation', `not allowed to change [${name}] at runtime`);
  return parameter;
}

const setFeatureCompatibilityVersion: Command = defineCommand({
  name: 'setFeatureCompatibilityVersion',
  access: 'admin',
  adminOnly: true,
  writeConcern: true,
  about: 'the version whose features are kept to; what is stored is the same for all',
  fields: { setFeatureCompatibilityVersion: required(stringField), confirm: boolField },
  run: ({ server }, { setFeatureCompatibilityVersion: version, confirm }) => {
    if (!FEATURE_VERSIONS.includes(version)) {
      const text = `Invalid feature compatibility version value '${version}'; expected one of ${FEATURE_VERSIONS.join(', ')}`;
      throw new CommandError(4926900, 'Location4926900', text);
    }
    if (confirm !== true) {
      const text = `Once you have upgraded to ${version}, you will not be able to downgrade FCV and binary version without support assistance. Please re-run this command with 'confirm: true' to acknowledge this and continue with the FCV upgrade.`;
      throw new CommandError(7369100, 'Location7369100', text);
    }
    server.parameters.set('featureCompatibilityVersion', version);
    return Promise.resolve({});
  },
});

export const PARAMETER_COMMANDS: readonly Command[] = [getParameter, setParameter, setFeatureCompatibilityVersion];
