// A redis-server for machines without one: fetched and built by the npm package redis-memory-server.
// Must fail clearly: a test run without Redis is a failed one.
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ServiceLog } from '../../../src/dev/child.ts';
import { isExecutableFile } from '../../../src/dev/programs.ts';

const REDIS_VERSION = '7.2.5';
const ADVICE = 'Install redis-server, or set REDIS_URL to a Redis of your own.';

interface BuilderModule {
  readonly default: { getPath(options: { downloadDir: string; version: string }): Promise<string> };
}

/**
 * Path of a redis-server that the package has fetched and built, kept in our cache folder. Throws, saying
 * what to install, when there is no package or it cannot do it.
 */
export async function redisProgramOfPackage(options: { cacheDir: string; log: ServiceLog }): Promise<string> {
  const downloadDir = join(options.cacheDir, 'redis');
  // The package's own path: nothing is fetched the second time.
  const built = join(downloadDir, REDIS_VERSION, 'redis-server');
  if (await isExecutableFile(built)) return built;
  const builder = loadBuilder();
  options.log.info('no redis-server on the PATH: fetching and building one (about two minutes, once)');
  await mkdir(downloadDir, { recursive: true });
  try {
    return await builder.default.getPath({ downloadDir, version: REDIS_VERSION });
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new Error(
      `no redis-server on the PATH, and redis-memory-server could not build one: ${reason}. ${ADVICE}`,
      {
        cause,
      },
    );
  }
}

/** The package's public class only runs its own servers; its builder only makes the program. */
function loadBuilder(): BuilderModule {
  try {
    return createRequire(import.meta.url)('redis-memory-server/lib/util/RedisBinary.js') as BuilderModule;
  } catch (cause) {
    throw new Error(
      `no redis-server on the PATH, and the package redis-memory-server is not installed. ${ADVICE}`,
      {
        cause,
      },
    );
  }
}
