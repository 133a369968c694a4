// `node dist/scripts/compatibility.js`: writes docs/compatibility.md from the tables in the code.

import { writeFileSync } from 'node:fs';
import { compatibilityPage } from '../test/compat/compatibility-page.ts';

writeFileSync(new URL('../../docs/compatibility.md', import.meta.url), compatibilityPage());
