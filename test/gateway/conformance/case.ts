// One case of the gateway's conformance list: what is sent, byte for byte, what must come back, and the rule that says so. Cases are data, so the
// same list runs over every FileStore.

import type { Fields } from '../gateway-for-test.ts';

/** A stretch of a planted file: its name, first and last byte. */
export type Stretch = readonly [file: string, first: number, last: number];

/** What the answer must be. */
export interface Expected {
  readonly status: number;
  /** Header fields, exactly, by pattern, or undefined for one that must not be there. */
  readonly fields?: Readonly<Record<string, string | RegExp | undefined>>;
  /** The body: bytes of a planted file, an error's code, or nothing. Undefined: not looked at. */
  readonly body?: Stretch | { readonly code: string } | '' | { readonly parts: readonly Stretch[] };
  /** The answer is cut: shorter than its head promised. */
  readonly cut?: boolean;
  /** The connection is closed after it. Otherwise it must carry another request. */
  readonly closes?: boolean;
}

/** One case. */
export interface Case {
  /** Section of RFC 9110 unless another document is named. */
  readonly rule: string;
  readonly name: string;
  readonly method: string;
  readonly target: string;
  /** `{name}` in a value stands for the entity tag of the planted file of that name. */
  readonly fields?: Fields;
  readonly body?: Uint8Array;
  /** Sent as it is, instead of a request made of the above. */
  readonly raw?: string;
  readonly expected: Expected;
}

/** A GET. */
export function get(rule: string, name: string, request: { readonly target: string; readonly fields?: Fields }, expected: Expected): Case {
  return { rule, name, method: 'GET', ...request, expected };
}
