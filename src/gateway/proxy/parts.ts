// Defines the parts from which a proxy is assembled.

import type { Backend } from '../backends/backend.ts';
import type { SleepingBackend } from '../backends/sleep/backend.ts';
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
  /** If undefined, the server always runs. */
  readonly sleeping?: Pick<SleepingBackend, 'isAwake' | 'wake'> | undefined;
  readonly doorway: Doorway;
  /** If undefined, callers are not authenticated. */
  readonly callers: Callers | undefined;
  /** If set, only these headers of clients are sent on. */
  readonly clientHeaders?: ClientHeaders;
  readonly enter: (kind: 'call' | 'stream', caller: string) => Place | { readonly refusal: Refusal };
  readonly rules: LiveRules;
  readonly seal: SessionSeal;
  readonly credential: Credential;
  /** If undefined, no webhook is called. */
  readonly webhooks: WebhookWorld | undefined;
  /** Limits that all replicas share. If undefined, none apply. */
  readonly rateLimits: RateLimits | undefined;
  readonly plain: PlainAnswers;
  /** Authorization server under the same origin, or undefined. */
  readonly serveIssuer: ServeIssuer | undefined;
  readonly health: Health;
  readonly limits: Pick<ServiceLimits, 'requestBytes' | 'messageBytes'>;
  readonly times: Pick<ServiceTimes, 'keepAliveMs'>;
  readonly trustForwarded: boolean;
  /** Path of the MCP endpoint; requests for other paths are not sent to the server. */
  readonly endpoint: string;
  /** If undefined, the HTTP+SSE transport (MCP 2024-11-05) is not served. */
  readonly sse: SseRoutes | undefined;
  readonly clock: ProxyClock;
  readonly newRequestId: () => string;
  readonly beginSpan?: BeginSpan;
  /** Records a request that has ended, once. */
  readonly record: (recorded: RecordedCall) => void;
  /** Maximum size of responses that are stored until their request is recorded. If absent, no responses are stored. */
  readonly keptAnswerBytes?: () => number;
  readonly active: (change: 1 | -1, kind: 'request' | 'stream') => void;
  /** Calls `task` when the proxy stops, so that streams end. The returned function cancels the call. */
  readonly untilStopped: (task: () => void) => () => void;
}
