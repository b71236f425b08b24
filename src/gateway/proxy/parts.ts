// Lists the dependencies from which a proxy is assembled.

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
  /** undefined if callers are not authenticated. */
  readonly callers: Callers | undefined;
  /** If set, the server gets only these headers of clients. */
  readonly clientHeaders?: ClientHeaders;
  readonly enter: (kind: 'call' | 'stream', caller: string) => Place | { readonly refusal: Refusal };
  readonly rules: LiveRules;
  readonly seal: SessionSeal;
  readonly credential: Credential;
  /** undefined if no webhook is configured. */
  readonly webhooks: WebhookWorld | undefined;
  /** Limits that all replicas share. undefined if no limits apply. */
  readonly rateLimits: RateLimits | undefined;
  readonly plain: PlainAnswers;
  /** Authorization server under the same origin. undefined if the proxy has no authorization server. */
  readonly serveIssuer: ServeIssuer | undefined;
  readonly health: Health;
  readonly limits: Pick<ServiceLimits, 'requestBytes' | 'messageBytes'>;
  readonly times: Pick<ServiceTimes, 'keepAliveMs'>;
  readonly trustForwarded: boolean;
  /** Path of the MCP endpoint. The proxy forwards no other path to the server. */
  readonly endpoint: string;
  /** undefined if the proxy does not serve HTTP+SSE (MCP 2024-11-05). */
  readonly sse: SseRoutes | undefined;
  readonly clock: ProxyClock;
  readonly newRequestId: () => string;
  readonly beginSpan?: BeginSpan;
  /** Records an ended request. Called once per request. */
  readonly record: (recorded: RecordedCall) => void;
  /**
   * Maximum size of a stored response. Responses are stored until their request is recorded. If absent, no responses
   * are stored.
   */
  readonly keptAnswerBytes?: () => number;
  readonly active: (change: 1 | -1, kind: 'request' | 'stream') => void;
  /** Calls `task` when the proxy stops, to end a stream. The returned function cancels the call. */
  readonly untilStopped: (task: () => void) => () => void;
}
