// What `npm run mutate` changes in the pure code, and what it runs to find out whether a test notices.
/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutate.config.ts' },
  mutate: [
    'src/domain/**/*.ts',
    'src/adapters/esim-access/{codes,map,map-catalogue}.ts',
    'src/adapters/paystack/{codes,limits,map}.ts',
    'src/adapters/outbound/{addresses,retry-after}.ts',
    'src/adapters/rates/decimal.ts',
  ],
  ignorePatterns: ['.data', 'coverage', 'test/replay/histories', 'test/migration/releases'],
  tempDirName: '.data/mutate',
  reporters: ['clear-text', 'progress', 'html', 'json'],
  htmlReporter: { fileName: '.data/mutate-report/index.html' },
  jsonReporter: { fileName: '.data/mutate-report/mutation.json' },
  concurrency: 2,
  thresholds: { high: 100, low: 90, break: 90 },
};
