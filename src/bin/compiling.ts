// How soon V8 compiles what is called often. A request passes some hundred functions once each, so with V8's own patience a server answers some ten
// thousand of them, at two to three times the cost, before all of its way is compiled well; programs that loop come there in no time. Said before the
// program is loaded. Measured in docs/benchmarks.md.

import { setFlagsFromString } from 'node:v8';

/** Bytes of code that a function runs through between two looks at whether it deserves to be compiled; V8 has 135,168. */
const budgetBytes = 40_000;

/** Lets functions be compiled after a third of the calls that V8 waits for. */
export function compileSoon(): void {
  setFlagsFromString(`--interrupt-budget=${budgetBytes}`);
}
