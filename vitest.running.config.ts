// What a newcomer tries, against the `npm start` that runs in this checkout (`npm run test:running` in a
// second terminal). Brings nothing up and takes nothing down: .data/running.json says where everything is.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'running',
    pool: 'forks',
    // They share the sandbox's wallets, endpoints and faults.
    fileParallelism: false,
    include: ['test/first-steps/*.running.ts'],
    globalSetup: ['test/first-steps/stuck-purchases.ts'],
    testTimeout: 180_000,
  },
});
