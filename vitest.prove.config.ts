// The promises at the size they are stated at (`npm run prove`): every *.promise.test.ts, one file after the other, since some of them
// measure. `npm test` runs the same files at the size of continuous integration.
import { defineConfig } from 'vitest/config';

const TWO_HOURS_MS = 7_200_000;

export default defineConfig({
  test: {
    name: 'prove',
    pool: 'forks',
    fileParallelism: false,
    include: ['test/**/*.promise.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    provide: { proveSize: 'prove' },
    reporters: ['verbose'],
    testTimeout: TWO_HOURS_MS,
    hookTimeout: 120_000,
  },
});
