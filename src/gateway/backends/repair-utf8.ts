// Repairs messages of a server that writes invalid UTF-8, and reports the first repair.

import { replaceInvalidUtf8 } from '../wire/utf8.ts';
import type { BackendObserver } from './sessions/observer.ts';

/**
 * Returns the repair function for one line to a server. U+FFFD replaces invalid bytes, so that clients still get the
 * server's answers.
 */
export function createUtf8Repair(observer: BackendObserver): (message: Buffer) => Buffer {
  let reported = false;
  return (message) => {
    const repaired = replaceInvalidUtf8(message);
    if (repaired !== message && !reported) {
      reported = true;
      observer.log('warn', 'the MCP server writes bytes that are not UTF-8: they are replaced. Let it write UTF-8');
    }
    return repaired;
  };
}
