// `npm run prove`: every *.promise.test.ts at the size its promise is stated at, which `npm test` runs at the
// size of continuous integration, and every *.prove.test.ts, which is too long for `npm test`. One file after
// the other, since some of them measure.
import { defineConfig } from 'vitest/config';

const TWO_HOURS_MS = 7_200_000;

export default defineConfig({
  test: {
    name: 'prove',
    pool: 'forks',
    fileParallelism: false,
    include: ['test/**/*.promise.test.ts', 'test/**/*.prove.test.ts'],
    globalSetup: ['test/support/world/global-setup.ts'],
    provide: { proveSize: 'prove' },
    reporters: ['verbose'],
    testTimeout: TWO_HOURS_MS,
    hookTimeout: 120_000,
  },
});
