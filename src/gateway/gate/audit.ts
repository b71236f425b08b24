// Builds one audit event for each request, also for refused requests, and formats the event as a line of JSON. Events
// contain no tokens, and contain requests and answers only if the configuration says so.

import { type JsonObject, unicodeEscape } from '#std/json.ts';
import type { Message } from '../wire/message.ts';
import { methodFacts } from '../wire/methods.ts';
import { type WebhookChange, withoutUserInfo } from './audit-change.ts';
import { type AuditContents, type AuditedData, auditData } from './audit-contents.ts';
import { type Delegation, delegationOf } from './audit-delegation.ts';
import { formatTime } from './audit-time.ts';
import { type AuditType, auditTypeOf } from './audit-types.ts';

export type AuditOutcome = 'success' | 'failure' | 'denied' | 'error';

/** Kind of the JSON-RPC answer. `unknown` if the gateway did not read the answer. */
type AnswerKind = 'success' | 'error' | 'tool-error' | 'unknown';

export interface AuditInput {
  readonly auditId: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly durationMs: number;
  readonly component: string;
  readonly httpMethod: string;
  /** Path without the query, because the query may contain tokens. */
  readonly path: string;
  /** True if the request opened a stream for messages of the server. */
  readonly stream: boolean;
  readonly message?: Message;
  readonly status: number;
  readonly answer: AnswerKind;
  /** Code of the JSON-RPC error, if the gateway read the answer. */
  readonly rpcErrorCode?: number;
  /** Code of the refusal or fault. Absent or empty for other requests. */
  readonly refusal?: string;
  /** Policies that refused the call, or the reason why policies could not decide. Contains no values of the call. */
  readonly refusalDetail?: string;
  readonly source: AuditSource;
  /** Verified claims of the caller. Empty for anonymous callers. */
  readonly claims: JsonObject;
  readonly client?: { readonly name?: string; readonly version?: string };
  readonly transport: 'http' | 'sse';
  readonly responseBytes: number;
  /** Name of the tool, or id of the task, at the server. Absent if clients use the same text. */
  readonly backendName?: string;
  /** Tool that the client called through the optimizer's `call_tool`, or the tool that created the task. */
  readonly innerTool?: string;
  /** `name: outcome` for each called webhook. */
  readonly webhooks?: readonly string[];
  /** Present if webhooks changed the message. */
  readonly change?: WebhookChange;
  /** Present if Redis was unavailable, so that only this replica counted the shared limits. */
  readonly rateLimits?: 'replica';
  /** Contents of the request and answer. If absent, the event contains no contents. */
  readonly contents?: AuditContents;
}

export interface AuditSource {
  /** Remote address of the connection. */
  readonly peer: string;
  /** X-Forwarded-For and X-Real-IP as received. Used only if `trusted` is true. */
  readonly forwardedFor?: string;
  readonly realIp?: string;
  readonly trusted: boolean;
  readonly userAgent?: string;
  readonly requestId?: string;
}

/** Event with the field names and values of ToolHive's audit log. Undefined fields are not written. */
export interface AuditEvent {
  readonly time: string;
  readonly level: 'INFO+2';
  readonly msg: 'audit_event';
  readonly audit_id: string;
  readonly type: AuditType;
  readonly logged_at: string;
  readonly outcome: AuditOutcome;
  readonly component: string;
  readonly source: {
    readonly type: 'network';
    readonly value: string;
    readonly extra: { readonly user_agent?: string; readonly request_id?: string };
  };
  readonly subjects: {
    readonly user: string;
    readonly user_id?: string;
    readonly client_name?: string;
    readonly client_version?: string;
  };
  readonly delegation?: Delegation;
  readonly target: {
    readonly endpoint: string;
    readonly method: string;
    readonly type?: string;
    readonly name?: string;
  };
  readonly metadata: {
    readonly extra: {
      readonly duration_ms: number;
      readonly transport: 'http' | 'sse';
      readonly response_size_bytes: number;
      readonly backend_name?: string;
      readonly inner_tool?: string;
      /** `name: outcome` for each called webhook: allowed, changed, denied, failed or ignored. */
      readonly webhooks?: readonly string[];
      readonly webhook_change?: WebhookChange;
      /** Present if Redis was unavailable, so that only this replica counted. */
      readonly rate_limits?: 'replica';
      /** Code of the refusal or fault, from docs/errors.md. */
      readonly refusal?: string;
      /** Detail such as `forbidden by policy1`. Numbers begin with 0, as for Cedar policies without an id. */
      readonly refusal_detail?: string;
    };
  };
  /** Contents as JSON. Contents that are not JSON or have more than 256 levels are a text. */
  readonly data?: AuditedData;
}

const NAME_MAX = 512;
const TEXT_MAX = 256;

interface AuditHead<Type extends string> {
  readonly auditId: string;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly type: Type;
  readonly outcome: AuditOutcome;
  readonly component: string;
}

/** Returns the fields with which every event begins. */
export function auditHead<Type extends string>({ auditId, timeMs, type, outcome, component }: AuditHead<Type>) {
  const time = formatTime(timeMs);
  return {
    time,
    level: 'INFO+2',
    msg: 'audit_event',
    audit_id: auditId,
    type,
    logged_at: time,
    outcome,
    component,
  } as const;
}

export function auditEvent(input: AuditInput): AuditEvent {
  const { auditId, timeMs, component, path, claims, client, source, message } = input;
  const call = message === undefined || message.kind === 'response' ? undefined : message;
  const feature = call === undefined ? undefined : methodFacts(call.method)?.feature;
  const [type, outcome] = [auditTypeOf(message, input.stream), auditOutcome(input)];
  return {
    ...auditHead({ auditId, timeMs, type, outcome, component }),
    source: {
      type: 'network',
      value: sourceAddress(source),
      extra: { user_agent: cut(source.userAgent, TEXT_MAX), request_id: cut(source.requestId, TEXT_MAX) },
    },
    subjects: auditSubjects(claims, client),
    delegation: delegationOf(claims, input.contents?.settings.delegationDepth),
    target: {
      endpoint: path.slice(0, NAME_MAX),
      method: call?.method.slice(0, TEXT_MAX) ?? input.httpMethod,
      type: call?.target === undefined ? undefined : feature,
      name: cut(call?.target === undefined ? undefined : withoutUserInfo(call.target.value), NAME_MAX),
    },
    metadata: {
      extra: {
        duration_ms: Math.round(input.durationMs),
        transport: input.transport,
        response_size_bytes: input.responseBytes,
        backend_name: cut(input.backendName, NAME_MAX),
        inner_tool: cut(input.innerTool, NAME_MAX),
        webhooks: input.webhooks,
        webhook_change: input.change,
        rate_limits: input.rateLimits,
        refusal: input.refusal === '' ? undefined : input.refusal,
        refusal_detail: cut(input.refusalDetail, TEXT_MAX),
      },
    },
    data: auditData(input.contents),
  };
}

export function auditSubjects(claims: JsonObject, client?: AuditInput['client']): AuditEvent['subjects'] {
  return {
    user: userOf(claims),
    user_id: cut(claimText(claims.sub), TEXT_MAX),
    client_name: cut(client?.name ?? claimText(claims.client_name), TEXT_MAX),
    client_version: cut(client?.version ?? claimText(claims.client_version), TEXT_MAX),
  };
}

const INTERNAL_ERROR = -32603; // Code of JSON-RPC 2.0 section 5.1.

/** Refusals that count as denied even if their HTTP status is neither 401 nor 403. */
const DENIALS: ReadonlySet<string> = new Set(['policy-denied', 'tool-unknown', 'policy-arguments-ambiguous']);

type OutcomeInput = Pick<AuditInput, 'status' | 'answer' | 'rpcErrorCode' | 'refusal' | 'contents'>;

/** Returns the outcome. A reported error is not a success, even with HTTP 200, unless `readsErrors` is false. */
export function auditOutcome(input: OutcomeInput): AuditOutcome {
  const { status, answer, rpcErrorCode, refusal = '', contents } = input;
  if (status === 401 || status === 403 || DENIALS.has(refusal)) return 'denied';
  if (status >= 500) return 'error';
  if (status >= 400) return 'failure';
  if (contents?.settings.readsErrors === false) return 'success';
  if (answer === 'error') return rpcErrorCode === INTERNAL_ERROR ? 'error' : 'failure';
  return answer === 'tool-error' ? 'failure' : 'success';
}

/** Characters that some log readers treat as line ends, or that reverse the direction of text. */
const UNSAFE_SOMEWHERE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Formats an event as one line, without the line end. */
export function auditLine(event: object): string {
  const json = JSON.stringify(event);
  if (!UNSAFE_SOMEWHERE.test(json)) return json;
  return json.replace(UNSAFE, unicodeEscape);
}

function userOf({ name, preferred_username: preferred, email }: JsonObject): string {
  const user = claimText(name) ?? claimText(preferred) ?? claimText(email) ?? 'anonymous';
  return user.slice(0, TEXT_MAX);
}

const ADDRESS = /^[0-9a-fA-F:.]{2,45}$/;

/** Returns the address of the caller. Ignores header values that are not addresses, even from a trusted proxy. */
export function sourceAddress({ peer, forwardedFor, realIp, trusted }: AuditSource): string {
  if (!trusted) return peer;
  const [first] = forwardedFor?.split(',', 1) ?? [];
  const forwarded = [first, realIp].map(addressOf).find((address) => address !== undefined);
  return forwarded ?? peer;
}

/** Returns the address without a port: `192.0.2.1:80` or `[2001:db8::1]:80` (RFC 7239 section 6). */
function addressOf(text: string | undefined): string | undefined {
  const trimmed = text?.trim().replace(/^\[([^\]]*)\](:\d+)?$|^(\d+(?:\.\d+){3}):\d+$/, '$1$3');
  return trimmed !== undefined && ADDRESS.test(trimmed) ? trimmed : undefined;
}

function claimText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function cut(text: string | undefined, max: number): string | undefined {
  return text?.slice(0, max);
}
