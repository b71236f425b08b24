// Sets flags of V8 before any other code of the program or of the tests runs.

import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/**
 * Node.js ships its own modules compiled, and V8 uses the compiled code only under the flags that it was compiled with.
 * The modules that nearly every command needs are therefore imported before flags are set: an eighth of the time until
 * a proxy responds. An import also reads all exports of a module, and so loads the modules behind it, as our own
 * imports would do later.
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
  // V8 13 (Node.js 24) compiles wrappers for calls that WebAssembly makes often, as the HTTP parser does. All threads
  // of a process share the wrappers, and a thread that replaces one can end the process ("Check failed:
  // jit_page.has_value()"). With this flag they are never compiled: a call takes 27 ns in place of 12.
  '--wasm-wrapper-tiering-budget=2147483647',
  // With this flag, V8 does not conclude from objects that stay (the lists of a start) that the objects of a request
  // will stay too: calls cost a third less.
  '--no-allocation-site-pretenuring',
];

/**
 * V8 collects the whole heap once it has grown by a quarter of the objects that stay. This saves memory in processes
 * that hold a fleet, and costs processes that serve calls up to a tenth of their time.
 */
export const MEMORY_V8_FLAG = '--heap-growing-percent=25';

let watching: PerformanceObserver | undefined;

/**
 * Saves memory from the second collection of the whole heap on. After the first one little is left, which then grows
 * with everything that a start creates: a run of two thousand objects in a new process takes a twelfth longer if the
 * heap is collected again and again.
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
 * For a process that makes one run. After its first major collection the heap may grow to seven times what is left:
 * most runs end before the second one, and two more collections took two tenths of a second of a creation of 2,000.
 * TurboFan optimizes only code that ran ten times as often as the default: most code would not make up for that before
 * the end. It has no effect after that first collection.
 */
export function prepareForOneRun(setFlag = setFlagsFromString): void {
  if (watching === undefined) return;
  setFlag('--heap-growing-percent=600');
  setFlag('--invocation-count-for-turbofan=30000');
}

/** Restores the default of V8. */
export function spendMemory(setFlag = setFlagsFromString): void {
  stopWatching();
  setFlag('--heap-growing-percent=0');
}

function stopWatching(): void {
  watching?.disconnect();
  watching = undefined;
}

/** `PerformanceEntry` has a `detail` here that the types of Node.js do not declare. */
function isOfWholeHeap(entry: object): boolean {
  const { detail } = entry as { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
