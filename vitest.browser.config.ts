// The pages, in a real browser (`npm run test:browser`). Apart from `npm test`, since not every machine has Chromium.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'browser',
    pool: 'forks',
    // One browser at a time: two cores draw one page well.
    fileParallelism: false,
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
