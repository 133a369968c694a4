// configureFailPoint: makes commands fail on purpose. Known only to a server in test mode (fail-points.ts).

import { Document } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, objectField, required, stringField } from '../fields.ts';

export const configureFailPoint: Command = defineCommand({
  name: 'configureFailPoint',
  access: 'admin',
  adminOnly: true,
  testOnly: true,
  about: 'makes commands fail on purpose',
  fields: { configureFailPoint: required(stringField), mode: required(anyField), data: objectField },
  run: ({ server }, { configureFailPoint: name, mode, data }) =>
    Promise.resolve({ count: server.failPoints.configure(name, mode, data ?? Document.empty) }),
});
