// Writes the tables of the documents from the code: `npm run record:docs`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTS, written } from './doc-tables.ts';
import { ROOT } from './source-files.ts';

for (const file of DOCUMENTS) writeFileSync(join(ROOT, file), await written(file));
