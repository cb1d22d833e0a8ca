// Finding the Temporal program: on the PATH, in the cache, by download, by building; and the error that names them all.
// The vendor and Go are stood in for by a local server and a script: the real ones take minutes and a network.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findTemporalProgram } from '../../src/dev/temporal-program.ts';
import { rememberingLog, testFolder } from './support.ts';

const folder = await testFolder();
const TEMPORAL = '#!/bin/sh\necho "temporal version 9 (Server 9, UI 9)"\n';
const BROKEN = '#!/bin/sh\necho "cannot execute" >&2\nexit 1\n';
/** A Go that writes its output where GOBIN says, as the real one does, and counts its runs. */
const GO = `#!/bin/sh
echo "$@" >> "$(dirname "$0")/runs"
sleep 0.3
printf '#!/bin/sh\\necho "temporal version 9"\\n' > "$GOBIN/temporal"
`;

async function program(dir: string, name: string, text: string): Promise<string> {
  await mkdir(join(folder, dir), { recursive: true });
  await writeFile(join(folder, dir, name), text);
  await chmod(join(folder, dir, name), 0o755);
  return join(folder, dir);
}

async function vendor(answer: {
  status: number;
  body?: Buffer;
}): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(answer.status).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`, asked };
}

async function find(name: string, pathFolders: string[], downloadOrigin: string) {
  const cacheDir = join(folder, name, 'cache');
  const log = rememberingLog();
  // The system's own folders, for env and tar, but not where a Temporal or a Go may be installed.
  const pathEnv = pathFolders.join(delimiter);
  const found = await findTemporalProgram({ cacheDir, pathEnv, log, downloadOrigin });
  return { found, cacheDir, log };
}

test('takes the one on the PATH first', async () => {
  const onPath = await program('onpath', 'temporal', TEMPORAL);
  const { origin, asked } = await vendor({ status: 500 });
  const { found } = await find('a', [join(folder, 'nothing'), onPath], origin);
  expect(found).toBe(join(onPath, 'temporal'));
  expect(asked).toEqual([]);
});

test('downloads the archive of this system once, keeps the program, and uses it from then on', async () => {
  const source = await program('archive', 'temporal', TEMPORAL);
  await writeFile(join(source, 'LICENSE'), 'text');
  await promisify(execFile)('tar', [
    '-czf',
    join(folder, 'archive.tar.gz'),
    '-C',
    source,
    'LICENSE',
    'temporal',
  ]);
  const { origin, asked } = await vendor({
    status: 200,
    body: await readFile(join(folder, 'archive.tar.gz')),
  });
  const broken = await program('broken', 'temporal', BROKEN);
  const answers = await Promise.all([find('b', [broken], origin), find('b', [broken], origin)]);
  const { found, cacheDir } = answers[0];
  expect(asked).toEqual([
    expect.stringMatching(/^\/cli\/archive\/v1\.5\.1\?platform=\w+&arch=(amd64|arm64)$/),
  ]);
  expect((await promisify(execFile)(found)).stdout).toContain('temporal version');
  expect(await readdir(join(cacheDir, 'temporal-1.5.1'))).toEqual(['temporal']);
  expect((await readdir(cacheDir)).filter((name) => name.includes('partial'))).toEqual([]);
  expect((await find('b', [], 'http://127.0.0.1:1')).found).toBe(found);
});

test('builds it with Go when the download fails, once for all who wait', async () => {
  const go = await program('go', 'go', GO);
  const { origin } = await vendor({ status: 404 });
  const [first, second] = await Promise.all([find('c', [go], origin), find('c', [go], origin)]);
  expect(first.found).toBe(second.found);
  const runs = await readFile(join(go, 'runs'), 'utf8');
  expect(runs).toBe('install github.com/temporalio/cli/cmd/temporal@v1.5.1\n');
  const said = [...first.log.lines, ...second.log.lines].join('\n');
  expect(said).toContain('answered 404');
  expect(said).toContain('building Temporal 1.5.1');
  expect(said).toMatch(/the Temporal download is in use by process \d+; waiting/);
});

test('names all it tried when there is no way', async () => {
  const broken = await program('broken', 'temporal', BROKEN);
  const go = await program('failing-go', 'go', '#!/bin/sh\necho "go: no network" >&2\nexit 1\n');
  const failing = find('d', [broken, go], 'http://127.0.0.1:1');
  await expect(failing).rejects.toThrow(
    new RegExp(
      [
        'Tried:',
        `.*${join(broken, 'temporal')} does not run: .*`,
        '.*no copy from an earlier run in .*temporal-1.5.1.*',
        '.*download: fetch failed.*',
        '.*build: go install .* failed: go: no network',
      ].join('[^]*'),
    ),
  );
  await expect(find('d', [], 'http://127.0.0.1:1')).rejects.toThrow(
    /build: Go is not on the PATH[^]*TEMPORAL_ADDRESS/,
  );
  expect((await readdir(join(folder, 'd', 'cache'))).filter((name) => name.startsWith('temporal-'))).toEqual(
    [],
  );
});

test('does not keep a download that does not run', async () => {
  const source = await program('bad-archive', 'temporal', BROKEN);
  await promisify(execFile)('tar', ['-czf', join(folder, 'bad.tar.gz'), '-C', source, 'temporal']);
  const { origin } = await vendor({ status: 200, body: await readFile(join(folder, 'bad.tar.gz')) });
  await expect(find('e', [], origin)).rejects.toThrow(/download: the program does not run/);
  expect((await readdir(join(folder, 'e', 'cache'))).filter((name) => name.startsWith('temporal-'))).toEqual(
    [],
  );
});
