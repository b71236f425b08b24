import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['test/cluster/**', 'node_modules/**'],
    globalSetup: ['test/harness/postgres-server.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // What runs in a browser is not counted: test/registry/page looks at it there.
      exclude: ['src/**/*.test.ts', 'src/registry/page/browser/**', 'src/control/page/browser/**'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 85 },
    },
  },
});
