// Creates the fault for a client whose line (message channel) to the server cannot be opened.

import { Failure } from '#std/failure.ts';
import type { BackendFault } from '../backend.ts';
import type { BackendObserver } from './observer.ts';

const MESSAGES = {
  unreachable: 'the MCP server cannot be reached',
  busy: 'the MCP server is busy',
  'not-supported': 'the MCP server does not speak this revision',
} as const;

/**
 * Creates the fault from a Failure, whose data may contain `reason` and the seconds after which a retry is useful. Logs
 * any other error, which is a bug of the gateway.
 */
export function lineFault(error: unknown, observer: BackendObserver): BackendFault {
  const detail = error instanceof Error ? error.message : String(error);
  const data = error instanceof Failure ? error.data : {};
  if (!(error instanceof Failure)) observer.log('warn', `a line to the MCP server cannot be opened: ${detail}`);
  const reason = data.reason === 'busy' || data.reason === 'not-supported' ? data.reason : 'unreachable';
  const retryAfterSeconds = typeof data.retryAfterSeconds === 'number' ? data.retryAfterSeconds : undefined;
  return { reason, message: MESSAGES[reason], retryAfterSeconds, detail };
}
