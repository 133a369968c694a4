// What a keyword of a JSON schema is: it makes a test of one value from its operand and its neighbours, or only checks its operand.

import type { Document, Value } from '../../../bson/index.ts';
import type { ElementTest } from '../path.ts';

/** Compiles a schema inside of a schema. */
export type SchemaCompiler = (schema: Document) => ElementTest;

export interface KeywordUse {
  readonly keyword: string;
  readonly operand: Value;
  /** The whole schema that the keyword stands in. */
  readonly schema: Document;
  readonly compile: SchemaCompiler;
}

/** Undefined: the keyword tests nothing by itself. */
export type KeywordRule = (use: KeywordUse) => ElementTest | undefined;

export type KeywordTable = Readonly<Record<string, KeywordRule>>;
