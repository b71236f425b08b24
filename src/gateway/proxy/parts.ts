// The parts that a proxy is made of.

import type { Backend } from '../backends/backend.ts';
import type { Credential } from '../credentials/credential.ts';
import type { RateLimits } from '../gate/rate-limits.ts';
import type { WebhookWorld } from '../gate/webhooks/run.ts';
import type { ServeIssuer } from '../issuer/mount.ts';
import type { SessionSeal } from '../wire/seal.ts';
import type { Callers } from './callers.ts';
import type { Doorway, Place } from './doorway.ts';
import type { Refusal } from './faults.ts';
import type { Health } from './health.ts';
import type { LiveRules } from './lists/live-stream.ts';
import type { PlainAnswers } from './plain-answers.ts';
import type { BeginSpan, ProxyClock } from './ports.ts';
import type { RecordedCall } from './records/recording.ts';
import type { ServiceLimits, ServiceTimes } from './settings.ts';
import type { SseRoutes } from './sse/routes.ts';
import type { ClientHeaders } from './steps/client-headers.ts';

export interface ProxyParts {
  readonly backend: Backend;
  readonly doorway: Doorway;
  /** Undefined: callers are not authenticated. */
  readonly callers: Callers | undefined;
  /** If set, other headers of clients do not go on. */
  readonly clientHeaders?: ClientHeaders;
  readonly enter: (kind: 'call' | 'stream', caller: string) => Place | { readonly refusal: Refusal };
  readonly rules: LiveRules;
  readonly seal: SessionSeal;
  readonly credential: Credential;
  /** Undefined: no webhook is asked. */
  readonly webhooks: WebhookWorld | undefined;
  /** Undefined: calls are not counted over all replicas. */
  readonly rateLimits: RateLimits | undefined;
  readonly plain: PlainAnswers;
  /** The authorization server below the same origin; undefined where there is none. */
  readonly serveIssuer: ServeIssuer | undefined;
  readonly health: Health;
  readonly limits: Pick<ServiceLimits, 'requestBytes' | 'messageBytes'>;
  readonly times: Pick<ServiceTimes, 'keepAliveMs'>;
  readonly trustForwarded: boolean;
  /** Undefined: every path is the server's own. */
  readonly endpoint: string;
  /** Undefined: the transport of 2024-11-05 is not served. */
  readonly sse: SseRoutes | undefined;
  readonly clock: ProxyClock;
  readonly newRequestId: () => string;
  readonly beginSpan?: BeginSpan;
  /** Once for each request that has ended. */
  readonly record: (recorded: RecordedCall) => void;
  /** Responses up to this are kept until their request is recorded. Absent: none. */
  readonly keptAnswerBytes?: () => number;
  readonly active: (change: 1 | -1, kind: 'request' | 'stream') => void;
  /** Calls back where the proxy is stopped before what it gives is called: streams end then. */
  readonly untilStopped: (task: () => void) => () => void;
}
