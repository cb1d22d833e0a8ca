// The pages, in a real browser (`npm run test:browser`). Apart from `npm test`, since not every machine has Chromium.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'browser',
    pool: 'forks',
    // Two browsers at a time: most of the time one of them waits for the service.
    maxWorkers: 2,
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/browser-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
