/**
 * The Temporal server that docker-compose.yml deploys, and its schema tool, built by Go once and kept in the
 * user's cache folder. For benches and `npm run test:deployed`.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startChild, type ServiceLog } from '../../../src/dev/child.ts';
import { waitForLock } from '../../../src/dev/lock.ts';
import { findProgram, isExecutableFile } from '../../../src/dev/programs.ts';
import { fillIn, readCompose } from './compose.ts';

/** Without a variable in .env. */
export const DEPLOYED_TEMPORAL = deployedVersion();
const MODULE = 'go.temporal.io/server/cmd';
const BUILD_TIMEOUT_MS = 1_800_000;

/** Throws, saying what is missing, when there is neither a kept copy nor Go. */
export async function findTemporalServer(options: {
  readonly cacheDir: string;
  readonly pathEnv: string;
  readonly log: ServiceLog;
}) {
  const { cacheDir, log } = options;
  const folder = join(cacheDir, `temporal-server-${DEPLOYED_TEMPORAL}`);
  const programs = { server: join(folder, 'temporal-server'), sqlTool: join(folder, 'temporal-sql-tool') };
  const isThere = async (): Promise<boolean> =>
    (await isExecutableFile(programs.server)) && (await isExecutableFile(programs.sqlTool));
  if (await isThere()) return programs;
  await mkdir(cacheDir, { recursive: true });
  const lock = await waitForLock(join(cacheDir, 'temporal-server.lock'), 'the Temporal server build', {
    deadlineMs: BUILD_TIMEOUT_MS,
    onWait: (message) => log.info(message),
  });
  try {
    if (!(await isThere())) await build(options, folder);
    return programs;
  } finally {
    lock.release();
  }
}

async function build(
  { cacheDir, pathEnv, log }: { cacheDir: string; pathEnv: string; log: ServiceLog },
  folder: string,
): Promise<void> {
  const go = await findProgram('go', pathEnv);
  if (go === null)
    throw new Error(`Temporal ${DEPLOYED_TEMPORAL} needs Go on the PATH to be built, or TEMPORAL_ADDRESS`);
  log.info(
    `building Temporal's server ${DEPLOYED_TEMPORAL} with ${go} (several minutes, once; kept in ${folder})`,
  );
  const workDir = await mkdtemp(join(cacheDir, 'temporal-server-partial-'));
  const goDir = join(workDir, 'go');
  try {
    // env(1) adds to the environment we were started with. Go's caches go with the work folder: only the
    // programs stay.
    // prettier-ignore
    const args = [
      `GOBIN=${workDir}`, `GOPATH=${goDir}`, `GOMODCACHE=${join(goDir, 'mod')}`, `GOCACHE=${join(goDir, 'cache')}`,
      'GOFLAGS=-modcacherw', 'CGO_ENABLED=0', go, 'install', `${MODULE}/server@v${DEPLOYED_TEMPORAL}`, `${MODULE}/tools/sql@v${DEPLOYED_TEMPORAL}`,
    ];
    const compiler = await startChild({
      name: 'the Temporal build',
      command: 'env',
      args,
      log,
      cwd: workDir,
    });
    const deadline = setTimeout(() => void compiler.stop(), BUILD_TIMEOUT_MS);
    const { code, signal } = await compiler.exited;
    clearTimeout(deadline);
    if (code !== 0)
      throw new Error(`the build of Temporal ended with ${signal ?? code ?? '?'}:\n${compiler.tail()}`);
    const ready = join(workDir, 'ready');
    await mkdir(ready);
    await rename(join(workDir, 'server'), join(ready, 'temporal-server'));
    await rename(join(workDir, 'sql'), join(ready, 'temporal-sql-tool'));
    await rm(folder, { recursive: true, force: true });
    await rename(ready, folder);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

function deployedVersion(): string {
  const image = fillIn(readCompose('docker-compose.yml').services['temporal']?.image ?? '', {});
  const [, version] = /:(\d+\.\d+\.\d+)$/.exec(image) ?? [];
  if (version === undefined) throw new Error(`docker-compose.yml names no version of Temporal: ${image}`);
  return version;
}
