// How the language says no: MongoDB's code with its name and text. Codes without a name of their own are called `Location<code>`, as the
// manual's page "Error Codes" says.

import { CommandError } from '../base/errors.ts';

const CODE_NAMES: Readonly<Record<number, string>> = {
  2: 'BadValue',
  4: 'NoSuchKey',
  5: 'GraphContainsCycle',
  8: 'UnknownError',
  9: 'FailedToParse',
  14: 'TypeMismatch',
  15: 'Overflow',
  16: 'InvalidLength',
  20: 'IllegalOperation',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  52: 'DollarPrefixedFieldName',
  53: 'InvalidIdField',
  54: 'NotSingleValueField',
  56: 'EmptyFieldName',
  66: 'ImmutableField',
  72: 'InvalidOptions',
  73: 'InvalidNamespace',
  96: 'OperationFailed',
  115: 'CommandNotSupported',
  146: 'ExceededMemoryLimit',
  168: 'InvalidPipelineOperator',
  224: 'QueryFeatureNotAllowed',
  232: 'MaxSubPipelineDepthExceeded',
  241: 'ConversionFailure',
  291: 'NoQueryExecutionPlans',
  292: 'QueryExceededMemoryLimitNoDiskUseAllowed',
  303: 'FeatureNotSupported',
  10334: 'BSONObjectTooLarge',
};

/** The error of this code and text, to be thrown; the name of the code follows from the code. */
export function refuse(code: number, message: string, cause?: unknown): CommandError {
  const name = CODE_NAMES[code] ?? `Location${String(code)}`;
  return new CommandError(code, name, message, cause === undefined ? {} : { cause });
}
