// The test run. Two groups: files that need no services, and files that share one Postgres, Temporal and
// Redis, brought up only when such a file is among those that run.
import { defineConfig } from 'vitest/config';
import MixedOrder from './test/support/world/mixed-order.ts';

const WITHOUT_SERVICES = [
  'test/**/*.unit.test.ts',
  'test/**/*.unit.promise.test.ts',
  'test/repository/**/*.test.ts',
  'test/dev/**/*.test.ts',
  'test/examples/receivers.test.ts',
  'test/simulators/**/*.test.ts',
  'test/vendors/paystack*.test.ts',
  'test/platform/outbound*.test.ts',
];
const WITH_A_BROWSER = 'test/browser/**';
/** `npm run test:go`. */
const WITH_GO = 'test/{sdk-go,openapi,helm}/**';
/** Long ones, run by `npm run prove` only. */
const ONLY_TO_PROVE = 'test/**/*.prove.test.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    // Stacks come and go with a catalogue each: with the usual 16 MB a quarter of their time is spent
    // collecting short-lived objects.
    execArgv: ['--max-semi-space-size=64'],
    // Workers in the test's process run workflows in it too: three threads for each stack cost more than most
    // files take. It takes the SDK's limit of 5 s from a workflow's turn as well. Workers in processes of
    // their own keep both, as in production.
    env: { TEMPORAL_DEBUG: 'true' },
    // On two cores: tests that wait for timers and servers leave room for two more.
    maxWorkers: 4,
    // Files leave nothing behind in their process, and loading the Temporal SDK again for each costs more
    // than most of them take.
    isolate: false,
    sequence: { sequencer: MixedOrder },
    // Ten times what anything takes on a quiet machine: a busy one is slow, not wrong.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A test without an assertion fails.
    expect: { requireAssertions: true },
    projects: [
      {
        extends: true,
        test: { name: 'plain', include: WITHOUT_SERVICES, exclude: [ONLY_TO_PROVE] },
      },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: [...WITHOUT_SERVICES, WITH_A_BROWSER, WITH_GO, ONLY_TO_PROVE],
          globalSetup: ['test/support/world/global-setup.ts'],
        },
      },
    ],
  },
});
