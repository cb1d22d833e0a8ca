// The pages, in a real browser (`npm run test:browser`). Apart from `npm test`, since not every machine has
// Chromium.
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/world/longest-first.ts';

export default defineConfig({
  test: {
    name: 'browser',
    pool: 'forks',
    // Stacks come and go with a catalogue each: with the usual 16 MB a quarter of their time is spent
    // collecting short-lived objects.
    execArgv: ['--max-semi-space-size=64'],
    // On two cores: tests that wait for the service leave room for one more.
    maxWorkers: 3,
    // Files leave nothing behind in their process, and loading the Temporal SDK again for each takes a second
    // or two.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/world/browser-setup.ts'],
    // A file walks some twenty pages, each in a browser: a busy machine is slow, not wrong.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // As patient as the pages are (`PATIENCE_MS`).
    expect: { poll: { timeout: 60_000 } },
  },
});
