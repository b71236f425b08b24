// `npm run test:quick`: tests that start no server, no other process and no browser, in one to two minutes.

import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './harness/patience.ts';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'test/architecture.test.ts',
      'test/words.test.ts',
      'test/{reconciler/kinds,reconciler/report,contracts/virtual-model,gateway/gate,impact}/*.test.ts',
    ],
    exclude: ['src/adapters/**', 'src/kubernetes/devcluster/**', 'src/hosts/**', 'src/cli/**'],
    pool: 'threads',
    // These tests keep no state in modules, and most of them share the modules of the kinds.
    isolate: false,
    maxWorkers: 2,
    testTimeout: PATIENCE_MS,
  },
});
