// Finds the `temporal` program: on the search path, in the cache folder, by download, or by building it with
// Go. The cache folder only ever holds a whole program that has run, and two processes never fill it at once.
// A download is unpacked only if it is the archive that we know; Go compares what it builds with its public
// checksum database.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startChild, type ServiceLog } from './child.ts';
import { waitForLock } from './lock.ts';
import { findProgram, isExecutableFile, runCommand } from './programs.ts';

/** The newest tag that `go install` can build; its server is 1.29. */
const VERSION = '1.5.1';
const GO_PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
const DOWNLOAD_ORIGIN = 'https://temporal.download';
/**
 * SHA-256 of the release's archives: https://github.com/temporalio/cli/releases/download/v1.5.1/checksums.txt
 */
const ARCHIVE_SHA256: Readonly<Record<string, string>> = {
  'linux-amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux-arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin-amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin-arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};
const VERSION_CHECK_TIMEOUT_MS = 20_000;
const DOWNLOAD_TIMEOUT_MS = 180_000;
const BUILD_TIMEOUT_MS = 900_000;
const LOCK_TIMEOUT_MS = 1_200_000;
const PROGRESS_INTERVAL_MS = 5_000;

interface TemporalProgramOptions {
  /** Shared by all checkouts. */
  readonly cacheDir: string;
  readonly pathEnv: string;
  readonly log: ServiceLog;
  /** For tests and mirrors. */
  readonly downloadOrigin?: string;
  /** For tests: the SHA-256 of an archive of their own. */
  readonly archiveSha256?: string;
}

/** Throws an error that lists everything it tried. */
export async function findTemporalProgram(options: TemporalProgramOptions): Promise<string> {
  const { cacheDir, pathEnv, log } = options;
  const tried: string[] = [];
  const onPath = await findProgram('temporal', pathEnv);
  if (onPath !== null) {
    const failure = await whyItDoesNotRun(onPath);
    if (failure === null) return onPath;
    tried.push(`${onPath} does not run: ${failure}`);
  } else {
    tried.push('no program named temporal on the PATH');
  }
  const cached = join(cacheDir, `temporal-${VERSION}`, 'temporal');
  if (await isUsable(cached)) return cached;
  tried.push(`no copy from an earlier run in ${cached}`);
  try {
    await mkdir(cacheDir, { recursive: true });
    const lock = await waitForLock(join(cacheDir, 'temporal.lock'), 'the Temporal download', {
      deadlineMs: LOCK_TIMEOUT_MS,
      onWait: (message) => log.info(message),
    });
    try {
      if (!(await isUsable(cached))) await fillCache(options, cached, tried);
    } finally {
      lock.release();
    }
    return cached;
  } catch (cause) {
    if (!tried.includes((cause as Error).message)) tried.push((cause as Error).message);
    throw new Error(
      'Temporal was not found. Tried:\n' +
        tried.map((line) => `  - ${line}\n`).join('') +
        'Install the Temporal CLI (https://docs.temporal.io/cli), or Go, or set TEMPORAL_ADDRESS to a server of your own.',
      { cause },
    );
  }
}

async function fillCache(options: TemporalProgramOptions, cached: string, tried: string[]): Promise<void> {
  const workDir = await mkdtemp(join(options.cacheDir, 'temporal-partial-'));
  try {
    const ways: ((options: TemporalProgramOptions, workDir: string) => Promise<string>)[] = [download, build];
    for (const way of ways) {
      try {
        const program = await way(options, workDir);
        await chmod(program, 0o755);
        const failure = await whyItDoesNotRun(program);
        if (failure !== null) throw new Error(`the program does not run: ${failure}`);
        await mkdir(join(cached, '..'), { recursive: true });
        await rename(program, cached);
        return;
      } catch (error) {
        const line = `${way === download ? 'download' : 'build'}: ${reasonOf(error)}`;
        tried.push(line);
        options.log.warn(`Temporal ${line}`);
      }
    }
    throw new Error(tried.at(-1));
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function download(options: TemporalProgramOptions, workDir: string): Promise<string> {
  const { log, downloadOrigin = DOWNLOAD_ORIGIN } = options;
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch;
  const sha256 = options.archiveSha256 ?? ARCHIVE_SHA256[`${process.platform}-${arch}`];
  if (sha256 === undefined) throw new Error(`the vendor has no program for ${process.platform} on ${arch}`);
  const url = `${downloadOrigin}/cli/archive/v${VERSION}?platform=${process.platform}&arch=${arch}`;
  log.info(`downloading Temporal ${VERSION} from ${downloadOrigin} (once; kept in ${options.cacheDir})`);
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  const archive = join(workDir, 'temporal.tar.gz');
  const totalMiB = Number(response.headers.get('content-length') ?? 0) / 2 ** 20;
  let received = 0;
  const hash = createHash('sha256');
  const progress = setInterval(() => {
    const of = totalMiB > 0 ? ` of ${totalMiB.toFixed(0)}` : '';
    log.info(`downloading Temporal: ${(received / 2 ** 20).toFixed(0)}${of} MiB`);
  }, PROGRESS_INTERVAL_MS);
  try {
    const counted = async function* (source: AsyncIterable<Uint8Array>) {
      for await (const chunk of source) {
        received += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(response.body as never), counted, createWriteStream(archive));
  } finally {
    clearInterval(progress);
  }
  const actual = hash.digest('hex');
  if (actual !== sha256)
    throw new Error(`${url} is not the archive that was released: its SHA-256 is ${actual}, not ${sha256}`);
  await runCommand('tar', ['-xzf', archive, '-C', workDir, 'temporal'], { timeout: DOWNLOAD_TIMEOUT_MS });
  return join(workDir, 'temporal');
}

async function build(options: TemporalProgramOptions, workDir: string): Promise<string> {
  const { log, pathEnv } = options;
  const go = await findProgram('go', pathEnv);
  if (go === null) throw new Error('Go is not on the PATH');
  log.info(`building Temporal ${VERSION} with ${go} (about two minutes, once; kept in ${options.cacheDir})`);
  const goDir = join(workDir, 'go');
  // env(1) adds to our environment. Go's caches are removed with the work folder.
  // prettier-ignore
  const args = [
    `GOBIN=${workDir}`, `GOPATH=${goDir}`, `GOMODCACHE=${join(goDir, 'mod')}`, `GOCACHE=${join(goDir, 'cache')}`,
    'GOFLAGS=-modcacherw', 'CGO_ENABLED=0', go, 'install', GO_PACKAGE,
  ];
  const compiler = await startChild({ name: 'the Temporal build', command: 'env', args, log, cwd: workDir });
  const startedAt = performance.now();
  const progress = setInterval(() => {
    log.info(`building Temporal (${Math.round((performance.now() - startedAt) / 1000)} s)`);
  }, PROGRESS_INTERVAL_MS);
  const late = setTimeout(() => void compiler.stop(), BUILD_TIMEOUT_MS);
  try {
    const { code } = await compiler.exited;
    if (code !== 0) throw new Error(`go install ${GO_PACKAGE} failed: ${compiler.tail()}`);
  } finally {
    clearInterval(progress);
    clearTimeout(late);
    await compiler.stop();
  }
  return join(workDir, 'temporal');
}

async function isUsable(program: string): Promise<boolean> {
  return (await isExecutableFile(program)) && (await whyItDoesNotRun(program)) === null;
}

async function whyItDoesNotRun(program: string): Promise<string | null> {
  try {
    const { stdout } = await runCommand(program, ['--version'], { timeout: VERSION_CHECK_TIMEOUT_MS });
    return stdout.includes('temporal version') ? null : `it says ${stdout.trim().slice(0, 80)}`;
  } catch (error) {
    return reasonOf(error);
  }
}

/** fetch hides the reason one level down. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
