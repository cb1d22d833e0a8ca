// What `npm run mutate` changes in the pure code, and what it runs to find out whether a test notices.
/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutate.config.ts' },
  mutate: [
    'src/domain/**/*.ts',
    'src/*/{,*/}*rules.ts',
    'src/catalogue/pricing.ts',
    'src/ledger/chart-of-accounts.ts',
    'src/purchases/purchase.ts',
    'src/webhooks/event-samples.ts',
    'src/platform/outbound/{addresses,retry-after}.ts',
    'src/vendors/esim-access/{codes,map,map-catalogue}.ts',
    'src/vendors/paystack/{codes,limits,map}.ts',
    'src/vendors/exchange-rates/decimal.ts',
  ],
  ignorePatterns: ['.data', 'coverage', 'test/replay/histories', 'test/migration/releases'],
  tempDirName: '.data/mutate',
  reporters: ['clear-text', 'progress', 'html', 'json'],
  htmlReporter: { fileName: '.data/mutate-report/index.html' },
  jsonReporter: { fileName: '.data/mutate-report/mutation.json' },
  concurrency: 2,
  thresholds: { high: 100, low: 90, break: 90 },
};
