// Writes src/generated/: the types and calls of every route below /api, from the document that `node
// src/main.ts openapi api` writes. They are not committed, so they are never behind the routes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(import.meta.dirname, 'src/generated');
const FILE = join(FOLDER, 'api.json');

mkdirSync(FOLDER, { recursive: true });
execFileSync(process.execPath, ['src/main.ts', 'openapi', 'api', FILE], { cwd: ROOT });
await createClient({
  input: withoutCaching(JSON.parse(readFileSync(FILE, 'utf8'))),
  parser: { filters: { operations: { include: ['/^[A-Z]+ /api/(?!openapi)/'] } } },
  logs: { level: 'silent' },
  output: { path: FOLDER, clean: false, importFileExtension: '.ts' },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    '@hey-api/typescript',
    {
      name: '@hey-api/sdk',
      auth: false,
      operations: { strategy: 'single', containerName: 'Operations', nesting: 'operationId' },
      responseStyle: 'data',
    },
  ],
});

/** A call has no cache, so it never sends `If-None-Match`. */
function withoutCaching(document) {
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path)))
    operation.parameters = operation.parameters?.filter(({ name }) => name !== 'If-None-Match');
  return document;
}
