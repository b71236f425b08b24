import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { MEMORY_V8_FLAG, prepareForOneRun, saveMemory, spendMemory } from './v8-flags.ts';

setFlagsFromString('--expose-gc');
const collect: (how: { type: 'minor' | 'major' }) => void = runInNewContext('gc');

/** Collects garbage. Resolves after all observers were called: this function's observer was added last. */
async function collectAndTell(type: 'minor' | 'major'): Promise<void> {
  const kind = constants[type === 'minor' ? 'NODE_PERFORMANCE_GC_MINOR' : 'NODE_PERFORMANCE_GC_MAJOR'];
  const { promise, resolve } = Promise.withResolvers<void>();
  const observer = new PerformanceObserver((list) => {
    const kinds = list.getEntries().map((entry) => (entry as unknown as { detail: { kind: number } }).detail.kind);
    if (kinds.includes(kind)) resolve();
  });
  observer.observe({ type: 'gc' });
  collect({ type });
  await promise;
  observer.disconnect();
}

it('saves memory after a major collection, and not before', async () => {
  const set: string[] = [];
  // Completes a collection first, so that no other collection happens during the test.
  await collectAndTell('major');
  saveMemory((flag) => set.push(flag));
  await collectAndTell('minor');
  expect(set).toEqual([]);
  await collectAndTell('major');
  await collectAndTell('major');
  expect(set).toEqual([MEMORY_V8_FLAG]);
});

it('saves no memory in a process that serves calls', async () => {
  const set: string[] = [];
  saveMemory((flag) => set.push(flag));
  spendMemory((flag) => set.push(flag));
  await collectAndTell('major');
  expect(set).toEqual(['--heap-growing-percent=0']);
});

it('sets the flags for one run only before the first major collection', async () => {
  const set: string[] = [];
  const setFlag = (flag: string): number => set.push(flag);
  saveMemory(setFlag);
  prepareForOneRun(setFlag);
  await collectAndTell('major');
  prepareForOneRun(setFlag);
  expect(set).toEqual(['--heap-growing-percent=600', '--invocation-count-for-turbofan=30000', MEMORY_V8_FLAG]);
});
