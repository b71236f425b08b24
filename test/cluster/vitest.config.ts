// The cluster suite: `npm run test:cluster`, against the API server that KUBECONFIG names, else against the embedded one.

import { defineConfig } from 'vitest/config';
import { V8_FLAGS } from '#hosts/v8-flags.ts';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    pool: 'forks',
    execArgv: V8_FLAGS,
    // One API server for all: definitions that come and go in one file would be felt in another.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
