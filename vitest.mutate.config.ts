// The tests that `npm run mutate` tries on every mutant: those of the pure code, which need no services and
// take seconds.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'mutate',
    include: [
      'test/**/*.unit.test.ts',
      'test/platform/outbound-guard.contract.test.ts',
      'test/vendors/esim-access-answers.contract.test.ts',
      'test/vendors/paystack-{answers,refund-answers,statement}.contract.test.ts',
    ],
    // Waits for seconds, and runs none of the mutated code.
    exclude: ['test/platform/observing.unit.test.ts'],
    // As in vitest.config.ts: a busy machine is slow, not wrong. Stryker ends mutants that hang much sooner.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A mutant in what a module computes while it loads is only seen by a process that loads it again.
    isolate: true,
  },
});
