// Records the histories that replay.test.ts replays, one per path, from the current code: `npm run
// record:histories`. Starts all services it needs and stops them again. Overwrites the files of the release
// of package.json only: those of earlier releases must keep replaying. With names of paths as arguments it
// records only these.
import { VERSION } from '../../src/platform/version.ts';
import { applyMigrations } from '../support/world/database.ts';
import { startTestServices } from '../support/world/services.ts';
import { startStack } from '../support/world/stack.ts';
import { writeHistory } from './histories.ts';
import { RECORDED_PATHS, type RecordedPath } from './paths.ts';
import { openRecording, RECORDING_ENV, walk } from './walks.ts';

/** The named paths, or all. Throws on an unknown name. */
function wantedPaths(): readonly RecordedPath[] {
  const names = process.argv.slice(2);
  if (names.length === 0) return RECORDED_PATHS;
  return names.map((name) => {
    const path = RECORDED_PATHS.find((known) => known === name);
    if (path === undefined) throw new Error(`no path ${name}`);
    return path;
  });
}

async function main(): Promise<void> {
  const services = await startTestServices();
  try {
    await applyMigrations(services.databaseUrl);
    const stack = await startStack({ ...services, env: RECORDING_ENV });
    try {
      const recording = await openRecording(stack);
      for (const path of wantedPaths()) {
        const history = await walk(recording, path);
        await writeHistory(VERSION, path, history);
        console.log(`${path}: ${history.events.length} events`);
      }
      await recording.close();
    } finally {
      await stack.close();
    }
  } finally {
    await services.close();
  }
}

await main();
// The SDK's runtime keeps the process alive for a while.
process.exit();
