// Creates the fault for a client whose line cannot be opened.

import { Failure } from '#std/failure.ts';
import type { BackendFault } from '../backend.ts';
import type { BackendObserver } from './observer.ts';

const MESSAGES = {
  unreachable: 'the MCP server cannot be reached',
  busy: 'the MCP server is busy',
  'not-supported': 'the MCP server does not speak this revision',
} as const;

/**
 * Creates the client's fault. The data of a Failure can contain the `reason` and the seconds until a retry makes sense.
 * Any other error is a bug of ours: it is logged, and the client gets the same answer.
 */
export function lineFault(error: unknown, observer: BackendObserver): BackendFault {
  const detail = error instanceof Error ? error.message : String(error);
  const data = error instanceof Failure ? error.data : {};
  if (!(error instanceof Failure)) observer.log('warn', `a line to the MCP server cannot be opened: ${detail}`);
  const reason = data.reason === 'busy' || data.reason === 'not-supported' ? data.reason : 'unreachable';
  const retryAfterSeconds = typeof data.retryAfterSeconds === 'number' ? data.retryAfterSeconds : undefined;
  return { reason, message: MESSAGES[reason], retryAfterSeconds, detail };
}
