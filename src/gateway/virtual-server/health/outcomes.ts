// Decides which outcomes of requests to a member count for its health and its circuit.

import type { BackendFault } from '../../backends/backend.ts';

export type Operation = 'check' | 'initialize' | 'call';

type Outcome = 'answer' | 'status-4xx' | 'status-5xx' | 'unreachable' | 'closed' | 'timeout' | 'other';

type Effect = 'success' | 'failure' | 'nothing';

/** A timeout of a call shows that one tool is slow; checks find out whether the member is. */
export const EFFECTS: Readonly<Record<Operation, Readonly<Record<Outcome, Effect>>>> = {
  check: {
    answer: 'success',
    'status-4xx': 'failure',
    'status-5xx': 'failure',
    unreachable: 'failure',
    closed: 'failure',
    timeout: 'failure',
    other: 'failure',
  },
  initialize: {
    answer: 'success',
    'status-4xx': 'nothing',
    'status-5xx': 'failure',
    unreachable: 'failure',
    closed: 'failure',
    timeout: 'failure',
    other: 'nothing',
  },
  call: {
    answer: 'success',
    'status-4xx': 'nothing',
    'status-5xx': 'failure',
    unreachable: 'failure',
    closed: 'failure',
    timeout: 'nothing',
    other: 'nothing',
  },
};

/** `status`: of the HTTP answer; undefined if there was none. */
export function answeredAs(fault: BackendFault | undefined, status: number | undefined): Outcome {
  const outcome = fault === undefined ? 'answer' : outcomeOfFault(fault.reason);
  if (outcome !== 'answer' && outcome !== 'other') return outcome;
  if (status === undefined || status < 400) return outcome;
  // A gateway in front of a slow tool answers so after its own time limit.
  if (status === 504) return 'timeout';
  return status < 500 ? 'status-4xx' : 'status-5xx';
}

function outcomeOfFault(reason: BackendFault['reason']): Outcome {
  return reason === 'unreachable' || reason === 'closed' || reason === 'timeout' ? reason : 'other';
}
