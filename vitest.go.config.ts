// `npm run test:go`: what needs Go on the PATH, and a network for its modules and for npm: the SDK in Go, the
// OpenAPI document with the generators of others, and the Helm chart. Apart from `npm test`, which needs
// neither.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'go',
    pool: 'forks',
    fileParallelism: false,
    include: ['test/{sdk-go,openapi,helm}/**/*.test.ts'],
    globalSetup: ['test/support/world/global-setup.ts'],
    // The first build of a generator takes a minute on two cores.
    testTimeout: 600_000,
    hookTimeout: 180_000,
    expect: { requireAssertions: true },
  },
});
