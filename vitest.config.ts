import { defineConfig } from 'vitest/config';
import { V8_FLAGS } from '#hosts/v8-flags.ts';
import { PATIENCE_MS } from './test/harness/patience.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/node/**', 'node_modules/**'],
    globalSetup: ['test/harness/postgres-server.ts'],
    pool: 'forks',
    execArgv: V8_FLAGS,
    maxWorkers: 2,
    // They end what hangs. Nothing is asserted by them: a machine may be busy with something else.
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 2 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // What runs in a browser is not counted: test/registry/page looks at it there.
      exclude: [
        'src/**/*.test.ts',
        'src/registry/page/browser/**',
        'src/std/page/shared/**',
        'src/reconciler/control/page/browser/**',
      ],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 85 },
    },
  },
});
