// Flags of V8 that the program and the tests set before anything else of them runs.

import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/**
 * Node.js brings its own modules compiled, and V8 takes them only under the flags that they were compiled with. What nearly every
 * command needs is imported before flags are set: an eighth of the time until a proxy answers. An import also reads all that a module
 * exports, and so loads what stands behind it, as our own imports would do later.
 */
export const LOADED_BEFORE = [
  'node:http2',
  'node:crypto',
  'node:worker_threads',
  'node:child_process',
  'node:fs/promises',
  'node:perf_hooks',
  'node:fs',
  'node:util',
  'node:net',
  'node:zlib',
  'node:timers/promises',
  'node:dns/promises',
];

export const V8_FLAGS = [
  // V8 13 (Node.js 24) compiles a wrapper for what WebAssembly calls often, as the HTTP parser does; all threads of a process share
  // them, and a thread that replaces one can end the process ("Check failed: jit_page.has_value()"). They are never compiled: a
  // call takes 27 ns in place of 12.
  '--wasm-wrapper-tiering-budget=2147483647',
  // V8 does not learn from what stays (the lists of a start) that what a request makes will stay too: calls cost a third less.
  '--no-allocation-site-pretenuring',
];

/**
 * All of the heap is looked at once it has grown by a quarter of what stays: memory is saved where a fleet is held. It costs who serves
 * calls up to a tenth of their time.
 */
export const MEMORY_V8_FLAG = '--heap-growing-percent=25';

let watching: PerformanceObserver | undefined;

/**
 * Saves memory from the second such look on. What is left after the first is little, and grows with all that a start makes: a run
 * of two thousand objects in a new process takes a twelfth longer where it is looked at again and again.
 */
export function saveMemory(setFlag = setFlagsFromString): void {
  watching = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isOfWholeHeap)) return;
    stopWatching();
    setFlag(MEMORY_V8_FLAG);
  });
  watching.observe({ type: 'gc' });
}

/**
 * For a process that makes one run. After its first major collection the heap may grow to seven times what is left: most runs are over
 * before the second, and two more took two tenths of a second of a creation of 2,000. TurboFan optimizes what has run ten times as often as
 * elsewhere: most code would not make up for that before the end. Without effect after that first collection.
 */
export function prepareForOneRun(setFlag = setFlagsFromString): void {
  if (watching === undefined) return;
  setFlag('--heap-growing-percent=600');
  setFlag('--invocation-count-for-turbofan=30000');
}

/** As V8 does where nothing is said. */
export function spendMemory(setFlag = setFlagsFromString): void {
  stopWatching();
  setFlag('--heap-growing-percent=0');
}

function stopWatching(): void {
  watching?.disconnect();
  watching = undefined;
}

/** `PerformanceEntry` has a `detail` here, which the types of Node.js do not know. */
function isOfWholeHeap(entry: object): boolean {
  const { detail } = entry as { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
