// Configures the suite of a real node, which `npm run test:node` runs in separate namespaces.

import { defineConfig } from 'vitest/config';
import { V8_FLAGS } from '#hosts/v8-flags.ts';
import { PATIENCE_MS } from '../harness/patience.ts';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/node/**/*.test.ts'],
    globalSetup: ['test/node/machine.ts'],
    pool: 'forks',
    execArgv: V8_FLAGS,
    // All files use the same node.
    fileParallelism: false,
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 2 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
});
