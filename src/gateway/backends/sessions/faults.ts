// What a client gets to hear where a line cannot be opened.

import { Failure } from '#std/failure.ts';
import type { BackendFault } from '../backend.ts';
import type { BackendObserver } from './observer.ts';

const MESSAGES = {
  unreachable: 'the MCP server cannot be reached',
  busy: 'the MCP server is busy',
  'not-supported': 'the MCP server does not speak this revision',
} as const;

/**
 * A Failure may say in its data which `reason` the client is given, and after how many seconds it is worth trying again.
 * Anything but a Failure is a bug of ours: it goes to the log, and the client gets the same answer.
 */
export function lineFault(error: unknown, observer: BackendObserver): BackendFault {
  const detail = error instanceof Error ? error.message : String(error);
  const data = error instanceof Failure ? error.data : {};
  if (!(error instanceof Failure)) observer.log('warn', `a line to the MCP server cannot be opened: ${detail}`);
  const reason = data.reason === 'busy' || data.reason === 'not-supported' ? data.reason : 'unreachable';
  const retryAfterSeconds = typeof data.retryAfterSeconds === 'number' ? data.retryAfterSeconds : undefined;
  return { reason, message: MESSAGES[reason], retryAfterSeconds, detail };
}
