// Writes the types of every documented route to src/api/, from the documents that `node src/main.ts openapi` writes. They are not committed, so they
// are never behind the routes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(import.meta.dirname, 'src/api/generated');

mkdirSync(FOLDER, { recursive: true });
for (const name of ['api', 'ops']) {
  const document = join(FOLDER, `${name}.json`);
  execFileSync(process.execPath, ['src/main.ts', 'openapi', name, document], { cwd: ROOT });
  const types = await openapiTS(JSON.parse(readFileSync(document, 'utf8')));
  writeFileSync(join(FOLDER, `${name}.ts`), astToString(types));
}
