// The OpenAPI documents in the hands of others: generators of clients take them as they stand, and strict
// compilers take the result. `npm run client` does the same with the two of our own clients.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { go } from '../support/world/go.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const run = promisify(execFile);
const BIN = join(CHECKOUT, 'node_modules/.bin');
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const STRICT = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext'];

/** Its arguments for a document and the file to write. */
const FOR_TYPESCRIPT: Readonly<Record<string, (document: string, file: string) => readonly string[]>> = {
  'swagger-typescript-api@13.13.0': (document, file) => ['generate', '-p', document, '-o', '.', '-n', file],
  'orval@8.38.0': (document, file) => ['--input', document, '--output', file, '--client', 'fetch'],
  'oazapfts@7.5.0': (document, file) => [document, file],
};

let folder: string;
beforeAll(async () => {
  folder = await makeTestFolder();
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const packages = [...Object.keys(FOR_TYPESCRIPT), '@oazapfts/runtime@1.2.0'];
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  await run('npm', [...install, ...packages], { cwd: folder });
}, 300_000);

describe.each(['api', 'ops'])('the document of %s', (name) => {
  const document = `${name}.json`;
  beforeAll(async () => {
    const args = ['src/main.ts', 'openapi', name, join(folder, document)];
    await run(process.execPath, args, { cwd: CHECKOUT });
  });

  it.each(Object.keys(FOR_TYPESCRIPT))('gives TypeScript that compiles, by %s', async (tool) => {
    const command = tool.split('@')[0]!;
    const file = `${command}-${name}.ts`;
    await run(join(folder, 'node_modules/.bin', command), FOR_TYPESCRIPT[tool]!(document, file), {
      cwd: folder,
    });
    const types = ['--types', 'node', '--typeRoots', join(CHECKOUT, 'node_modules/@types')];
    const compiled = await run(join(BIN, 'tsc'), [...STRICT, ...types, file], { cwd: folder }).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(compiled.stdout).toBe('');
    expect(await readFile(join(folder, file), 'utf8')).toContain('export ');
  });

  it('gives Go that compiles, with 64 bits for volumes and amounts, by oapi-codegen', async () => {
    const module = join(folder, `go-${name}`);
    await mkdir(module);
    await writeFile(join(module, 'go.mod'), 'module generated\n\ngo 1.24.0\n');
    const args = ['-generate', 'types,client', '-package', 'generated', '-o', join(module, 'api.go')];
    await go(['run', OAPI_CODEGEN, ...args, document], folder);
    await go(['mod', 'tidy'], module);
    expect(await go(['build', './...'], module)).toBe('');
    const written = await readFile(join(module, 'api.go'), 'utf8');
    expect(written).toContain('func NewClientWithResponses(');
    expect(written.match(/\b(?:float32|int|int32) +`json:/g) ?? []).toEqual([]);
  });
});
