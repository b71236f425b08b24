// Decides which results of requests to a member count for its health and circuit.

import type { BackendFault } from '../../backends/backend.ts';

export type Operation = 'check' | 'initialize' | 'call';

type RequestOutcome = 'answer' | 'status-4xx' | 'status-5xx' | 'busy' | 'unreachable' | 'closed' | 'timeout' | 'other';

type Effect = 'success' | 'failure' | 'nothing';

/**
 * Effects by operation and result. A timeout of a call has no effect: it shows only that one tool is slow. Checks
 * detect a slow member.
 */
export const EFFECTS: Readonly<Record<Operation, Readonly<Record<RequestOutcome, Effect>>>> = {
  check: {
    answer: 'success',
    'status-4xx': 'failure',
    'status-5xx': 'failure',
    busy: 'failure',
    unreachable: 'failure',
    closed: 'failure',
    timeout: 'failure',
    other: 'failure',
  },
  initialize: {
    answer: 'success',
    'status-4xx': 'nothing',
    'status-5xx': 'failure',
    busy: 'nothing',
    unreachable: 'failure',
    closed: 'failure',
    timeout: 'failure',
    other: 'nothing',
  },
  call: {
    answer: 'success',
    'status-4xx': 'nothing',
    'status-5xx': 'failure',
    busy: 'nothing',
    unreachable: 'failure',
    closed: 'failure',
    timeout: 'nothing',
    other: 'nothing',
  },
};

export interface AnswerHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Classifies the result of a request. `head` is undefined if no HTTP answer came. */
export function answeredAs(fault: BackendFault | undefined, head: AnswerHead | undefined): RequestOutcome {
  const outcome = fault === undefined ? 'answer' : outcomeOfFault(fault.reason);
  if (outcome !== 'answer' && outcome !== 'other') return outcome;
  if (head === undefined || head.status < 400) return outcome;
  // Gateways in front of a slow tool send 504 after their own time limit.
  if (head.status === 504) return 'timeout';
  // The member is available, and names the time for a retry (RFC 9110, section 15.6.4).
  if (head.status === 503 && head.headers['retry-after'] !== undefined) return 'busy';
  return head.status < 500 ? 'status-4xx' : 'status-5xx';
}

const OWN_OUTCOMES = ['unreachable', 'closed', 'timeout', 'busy'] as const;

function outcomeOfFault(reason: BackendFault['reason']): RequestOutcome {
  return OWN_OUTCOMES.find((each) => each === reason) ?? 'other';
}
