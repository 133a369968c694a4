// The same package for `require`. Node's own `require` takes ES modules from 20.19 on; a test runner that brings a `require` of its own (Jest)
// is passed by, for it knows no ES modules.
'use strict';

const { createRequire } = process.getBuiltinModule('node:module');

module.exports = createRequire(__filename)('./dist/src/index.js');
