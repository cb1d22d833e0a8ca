// `npm run test:deployed`: what depends on Temporal's server, on the version that docker-compose.yml deploys,
// over a Postgres as there. Other tests run on the development server (docs/decisions/0004). Go builds the
// server once, in minutes.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'deployed',
    pool: 'forks',
    env: { TEMPORAL_DEBUG: 'true' },
    maxWorkers: 4,
    isolate: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { requireAssertions: true },
    include: [
      'test/**/*.deployed.ts',
      'test/platform/{temporal-ui,patches}.workflow.test.ts',
      'test/platform/workflow-states.contract.test.ts',
      'test/operations/finance-stuck.e2e.promise.test.ts',
      'test/sequences/01-continued-as-new.workflow.test.ts',
      'test/system/rolling-upgrade.prove.test.ts',
      'test/webhooks/deliver-webhook.workflow.test.ts',
    ],
    globalSetup: ['test/support/world/global-setup.ts'],
    provide: { deployedTemporal: true },
  },
});
