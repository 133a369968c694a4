// getClusterParameter and setClusterParameter: parameters of a whole set, kept in `config.clusterParameters`. A table; what is not in it is
// 4 NoSuchKey. Of these this server heeds none but what the manual's table says of its own features; they are kept and told.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, isNumber, toDouble, type Value } from '../../bson/index.ts';
import { namespaceOf, putDocument } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { objectField, required, typeText, type Field, type RequiredField } from '../fields.ts';
import { toInt64Truncated } from '../number-fields.ts';
import { changing, reading } from '../storage-scope.ts';

const NAMESPACE = namespaceOf('config', 'clusterParameters');

interface ClusterParameter {
  readonly fallback: Document;
  /** Refuses a value that is not allowed. */
  readonly check: (value: Document) => void;
}

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

function checkNames(value: Document, names: readonly string[]): void {
  for (const name of value.keys()) {
    if (name.startsWith('$')) throw new CommandError(52, 'DollarPrefixedFieldName', `field name '${name}' may not begin with a $`);
    if (!names.includes(name)) throw badValue(`BSON field '${name}' is an unknown field.`);
  }
}

function wrongType(name: string, value: Value): CommandError {
  return new CommandError(14, 'TypeMismatch', `BSON field '${name}' is the wrong type '${typeText(value)}'`);
}

function isPositive(value: Value | undefined): boolean {
  return value !== undefined && isNumber(value) && toDouble(value) > 0;
}

const changeStreamOptions: ClusterParameter = {
  fallback: Document.of({ preAndPostImages: Document.of({ expireAfterSeconds: 'off' }) }),
  check: (value) => {
    checkNames(value, ['preAndPostImages']);
    const images = value.get('preAndPostImages');
    if (!(images instanceof Document)) throw badValue("Expected 'preAndPostImages' to be an object");
    checkNames(images, ['expireAfterSeconds']);
    const seconds = images.get('expireAfterSeconds');
    if (seconds !== undefined && seconds !== 'off' && !isPositive(seconds)) throw badValue("Invalid value for 'preAndPostImages.expireAfterSeconds'");
  },
};

const changeStreams: ClusterParameter = {
  fallback: Document.of({ expireAfterSeconds: 3600n }),
  check: (value) => {
    checkNames(value, ['expireAfterSeconds']);
    const seconds = value.get('expireAfterSeconds') ?? undefined;
    if (seconds !== undefined && !isNumber(seconds)) throw wrongType('changeStreams.expireAfterSeconds', seconds);
    if (seconds !== undefined && !isPositive(seconds)) throw badValue("'changeStreams.expireAfterSeconds' must be greater than 0");
  },
};

function switchParameter(name: string, fallback: boolean): ClusterParameter {
  return {
    fallback: Document.fromEntries([[name, fallback]]),
    check: (value) => {
      checkNames(value, [name]);
      const flag = value.get(name) ?? undefined;
      if (flag !== undefined && typeof flag !== 'boolean') throw wrongType(name, flag);
    },
  };
}

const PARAMETERS: ReadonlyMap<string, ClusterParameter> = new Map([
  ['changeStreamOptions', changeStreamOptions],
  ['changeStreams', changeStreams],
  ['pauseMigrationsDuringMultiUpdates', switchParameter('enabled', false)],
  ['fleDisableSubstringPreviewParameterLimits', switchParameter('shouldDisable', false)],
]);

function unknown(name: string): CommandError {
  return new CommandError(4, 'NoSuchKey', `Unknown server parameter: ${name}`);
}

/** Seconds are kept as 64-bit integers, however they were given. */
function longSeconds(value: Value): Value {
  if (isNumber(value)) return toInt64Truncated(value);
  if (!(value instanceof Document)) return value;
  return Document.fromEntries(value.fields.map(([name, inner]) => [name, longSeconds(inner)]));
}

/** `'name'`, `'*'`, or an array of names. */
const namesField: RequiredField<readonly string[] | '*'> = {
  ...required<readonly string[] | '*'>({
    types: [],
    required: false,
    read: (value, at) => {
      if (value === '*') return '*';
      if (typeof value === 'string') return [value];
      const items = value instanceof BsonArray ? value.items() : [value];
      const names = items.filter((item) => typeof item === 'string');
      if (names.length === items.length) return names;
      throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}', expected types '[array, string]'`);
    },
  } satisfies Field<readonly string[] | '*'>),
};

async function storedValue(context: CommandContext, name: string): Promise<Document | undefined> {
  return reading(context, async (txn) => {
    const collection = await context.server.catalog.collection(txn, NAMESPACE);
    return await collection?.get(txn, collection.keyOf(name));
  });
}

const getClusterParameter: Command = defineCommand({
  name: 'getClusterParameter',
  access: 'admin',
  adminOnly: true,
  about: 'parameters of the set',
  fields: { getClusterParameter: namesField },
  lax: true,
  run: async (context, { getClusterParameter: asked }) => {
    const names = asked === '*' ? [...PARAMETERS.keys()] : asked;
    if (names.length === 0) throw badValue('Must supply at least one cluster server parameter name to getClusterParameter');
    const shown: Document[] = [];
    for (const name of new Set(names)) {
      const parameter = PARAMETERS.get(name);
      if (parameter === undefined) throw unknown(name);
      shown.push((await storedValue(context, name)) ?? Document.fromEntries([['_id', name], ...parameter.fallback.fields]));
    }
    return { clusterParameters: BsonArray.of(shown) };
  },
});

const setClusterParameter: Command = defineCommand({
  name: 'setClusterParameter',
  access: 'admin',
  adminOnly: true,
  about: 'sets a parameter of the set',
  fields: { setClusterParameter: required(objectField) },
  lax: true,
  run: async (context, { setClusterParameter: given }) => {
    if (given.fields.length > 1) throw new CommandError(72, 'InvalidOptions', 'setClusterParameter only supports setting exactly one parameter');
    const [name, value] = given.first ?? ['', null];
    const parameter = PARAMETERS.get(name);
    if (parameter === undefined) throw unknown(name);
    if (!(value instanceof Document)) throw badValue('Cluster server parameter value must be an object');
    parameter.check(value);
    const time = context.server.time.tick();
    await changing(context, async (txn) => {
      const collection = await context.server.catalog.ensureCollection(txn, NAMESPACE);
      const said = value.fields.filter(([, given]) => given !== null).map(([field, given]): [string, Value] => [field, longSeconds(given)]);
      const fields = new Map([...parameter.fallback.fields, ...said]);
      await putDocument(txn, collection, Document.fromEntries([['_id', name], ['clusterParameterTime', time], ...fields]));
    });
    return {};
  },
});

export const CLUSTER_PARAMETER_COMMANDS: readonly Command[] = [getClusterParameter, setClusterParameter];
