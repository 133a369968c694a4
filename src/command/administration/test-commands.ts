// Commands for tests of clients, known only to a server in test mode. `testVersion2` is of no version of the Stable API that there is
// (drivers' specification "Versioned API").

import { defineCommand, type Command } from '../command.ts';
import { anyField } from '../fields.ts';

export const testVersion2: Command = defineCommand({
  name: 'testVersion2',
  access: 'none',
  testOnly: true,
  about: 'for tests: a command that is not of version 1 of the Stable API',
  fields: { testVersion2: anyField },
  run: () => Promise.resolve({}),
});
