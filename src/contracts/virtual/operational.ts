// Defines timeouts and the handling of failures for the backends of a virtual MCP server.

import { bool, choice, duration, integer, map, object, optional } from '#std/schema.ts';

function wait(description: string, field: string, fallback: string) {
  return duration(description, { default: fallback, validations: [positive(field)] });
}

function positive(field: string) {
  return { rule: "duration(self) > duration('0s')", message: `${field} must be longer than 0s` };
}

const Timeouts = object(
  {
    default: wait('How long a request to a backend may take.', 'default', '30s'),
    perWorkload: optional(
      map(
        duration('How long a request to this backend may take.', { validations: [positive('a timeout')] }),
        'Times by name of the backend.',
        { maxProperties: 1000 },
      ),
    ),
  },
  'How long requests to backends may take.',
  { default: {} },
);

const CircuitBreaker = object(
  {
    enabled: bool('True: a backend that keeps failing gets no requests for a while.', false),
    failureThreshold: integer('Number of failures in a row that open the circuit.', { default: 5, minimum: 1 }),
    timeout: duration('How long the circuit is open before the backend is tried again.', {
      default: '60s',
      validations: [{ rule: "duration(self) >= duration('1s')", message: 'timeout must be >= 1s' }],
    }),
  },
  'Sends no requests to backends that keep failing.',
  { default: {} },
);

const FailureHandling = object(
  {
    healthCheckInterval: wait('Time from one health check of a backend to the next.', 'healthCheckInterval', '30s'),
    unhealthyThreshold: integer('Number of failed checks in a row that make a backend unhealthy.', {
      default: 3,
      minimum: 1,
    }),
    healthCheckTimeout: wait('How long a check may take; less than the interval.', 'healthCheckTimeout', '10s'),
    statusReportingInterval: wait('Time from one report of the status to the next.', 'statusReportingInterval', '30s'),
    partialFailureMode: choice(
      'fail: a request fails if any backend is down. best_effort: it is answered with the backends that are up.',
      ['fail', 'best_effort'],
      { default: 'fail' },
    ),
    circuitBreaker: CircuitBreaker,
  },
  'Handling of failed backends.',
  { default: {} },
);

/** Named OperationalConfig in ToolHive's documents. */
export const Operational = object(
  {
    logLevel: optional(choice('debug logs more. Default: info.', ['debug'])),
    timeouts: Timeouts,
    failureHandling: FailureHandling,
  },
  'Timeouts for backends, and handling of failed ones.',
  { default: {} },
);
