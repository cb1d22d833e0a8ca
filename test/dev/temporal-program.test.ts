// Finding the Temporal program: on the PATH, in the cache, by download, by building; and the error that names
// them all. A local server and a script replace the vendor and Go: the real ones take minutes and a network.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
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
/** A Go that writes its output to GOBIN, as the real one does, and counts its runs. */
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

/** Without `released`, the archive is the vendor's released one. */
async function find(name: string, pathFolders: string[], downloadOrigin: string, released?: Buffer) {
  const cacheDir = join(folder, name, 'cache');
  const log = rememberingLog();
  // The system's own folders, for env and tar, but not where a Temporal or a Go may be installed.
  const pathEnv = pathFolders.join(delimiter);
  const known = released === undefined ? {} : { archiveSha256: sha256Of(released) };
  const found = await findTemporalProgram({ cacheDir, pathEnv, log, downloadOrigin, ...known });
  return { found, cacheDir, log };
}

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** The vendor's archive with this program in it. */
async function archiveOf(name: string, text: string): Promise<Buffer> {
  const source = await program(name, 'temporal', text);
  await writeFile(join(source, 'LICENSE'), 'text');
  const archive = join(folder, `${name}.tar.gz`);
  await promisify(execFile)('tar', ['-czf', archive, '-C', source, 'LICENSE', 'temporal']);
  return readFile(archive);
}

const kept = async (name: string): Promise<string[]> =>
  (await readdir(join(folder, name, 'cache'))).filter((entry) => entry.startsWith('temporal-'));

test('findTemporalProgram uses the one on the PATH first', async () => {
  const onPath = await program('onpath', 'temporal', TEMPORAL);
  const { origin, asked } = await vendor({ status: 500 });
  const { found } = await find('a', [join(folder, 'nothing'), onPath], origin);
  expect(found).toBe(join(onPath, 'temporal'));
  expect(asked).toEqual([]);
});

test('findTemporalProgram downloads the archive of this system once, keeps the program, and uses it from then on', async () => {
  const archive = await archiveOf('archive', TEMPORAL);
  const { origin, asked } = await vendor({ status: 200, body: archive });
  const broken = await program('broken', 'temporal', BROKEN);
  const answers = await Promise.all([
    find('b', [broken], origin, archive),
    find('b', [broken], origin, archive),
  ]);
  const { found, cacheDir } = answers[0];
  expect(asked).toEqual([
    expect.stringMatching(/^\/cli\/archive\/v1\.5\.1\?platform=\w+&arch=(amd64|arm64)$/),
  ]);
  expect((await promisify(execFile)(found)).stdout).toContain('temporal version');
  expect(await readdir(join(cacheDir, 'temporal-1.5.1'))).toEqual(['temporal']);
  expect((await readdir(cacheDir)).filter((name) => name.includes('partial'))).toEqual([]);
  expect((await find('b', [], 'http://127.0.0.1:1')).found).toBe(found);
});

test('findTemporalProgram refuses an archive that is not the released one, without running anything in it', async () => {
  const ran = join(folder, 'ran');
  const changed = await archiveOf('changed', `#!/bin/sh\ntouch ${ran}\necho "temporal version 9"\n`);
  const { origin } = await vendor({ status: 200, body: changed });
  const known = await archiveOf('released', TEMPORAL);
  await expect(find('changed', [], origin, known)).rejects.toThrow(
    `its SHA-256 is ${sha256Of(changed)}, not ${sha256Of(known)}`,
  );
  await expect(find('changed', [], origin)).rejects.toThrow(`its SHA-256 is ${sha256Of(changed)}, not `);
  expect(await kept('changed')).toEqual([]);
  await expect(readFile(ran)).rejects.toThrow('ENOENT');
});

test('findTemporalProgram builds the program with Go instead of using a changed archive, and says why', async () => {
  const go = await program('go-instead', 'go', GO);
  const { origin } = await vendor({ status: 200, body: await archiveOf('changed-too', TEMPORAL) });
  const { found, log } = await find('instead', [go], origin);
  expect((await promisify(execFile)(found)).stdout).toContain('temporal version');
  expect(await readFile(join(go, 'runs'), 'utf8')).toContain('install github.com/temporalio/cli/');
  expect(log.lines.join('\n')).toMatch(/download: .* is not the archive that was released/);
});

test('findTemporalProgram builds the program with Go when the download fails, once for all waiting starts', async () => {
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

test('findTemporalProgram lists all ways it tried when each fails', async () => {
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
  expect(await kept('d')).toEqual([]);
});

test('findTemporalProgram does not keep a download that does not run', async () => {
  const bad = await archiveOf('bad-archive', BROKEN);
  const { origin } = await vendor({ status: 200, body: bad });
  await expect(find('e', [], origin, bad)).rejects.toThrow(/download: the program does not run/);
  expect(await kept('e')).toEqual([]);
});
