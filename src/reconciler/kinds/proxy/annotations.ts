// Defines the settings of a proxy that are annotations `skep.dev/...`: meaning, valid values, and the proxies to which
// they apply.

import { pathPrefix } from '#std/address/address.ts';
import { parseDuration } from '#std/duration.ts';
import {
  type AnnotationSetting,
  AUDIT_FAILURE_SETTING,
  type AuditFailureChoice,
  annotationValue,
  oneOf,
  readConfigMapKey,
} from '../annotations.ts';
import type { Resource } from '../kind.ts';
import { TOOLS_LOCK_SETTING } from '../tools-lock.ts';

/** Types of servers behind a proxy. */
export type Behind = 'servers on standard streams' | 'servers with a network' | 'remote servers';

type ProxySetting<Value> = AnnotationSetting<Value, Behind>;

const EVERYWHERE: readonly Behind[] = ['servers on standard streams', 'servers with a network', 'remote servers'];

const SHARING: ProxySetting<'shared' | 'perSession'> = {
  name: 'skep.dev/stdio-sharing',
  description:
    'shared: one process serves all clients, and refuses requests that it cannot attribute to one of them. perSession: each session has its own process, one of backendReplicas pods; while all are in use, clients get 503 with Retry-After.',
  ...oneOf(['shared', 'perSession'], 'shared'),
  places: ['servers on standard streams'],
};

const RATE = count('skep.dev/rate-limit', 'Requests per second of all callers; above it they get 503.', 'no limit');
const CALLER_RATE = count(
  'skep.dev/per-caller-rate-limit',
  'Requests per second of one caller; above it that caller gets 429.',
  'no limit',
);
const CALLS = count('skep.dev/max-in-flight', 'Calls in progress at once; above it callers get 503.', '1024');
const STREAMS = count('skep.dev/max-streams', 'Streams that are open at once; above it callers get 503.', '12000');

const BODY: ProxySetting<number> = {
  name: 'skep.dev/max-body',
  description: 'Largest body of a request; larger ones get 413.',
  values: 'a number of bytes from 1, with Ki or Mi after it if needed',
  fallback: '4Mi',
  places: EVERYWHERE,
  read: bytes,
};

const HOSTS: ProxySetting<string[]> = {
  name: 'skep.dev/allowed-hosts',
  description:
    'Accepted values of Host, with a port or for any port. Probes of Kubernetes are accepted with any value.',
  values: 'hosts separated by commas, such as mcp.example.com,mcp.example.com:8443, or *',
  fallback: 'all',
  places: EVERYWHERE,
  read: (text) => listTexts(text, isHost),
};

const ORIGINS: ProxySetting<string[]> = {
  name: 'skep.dev/allowed-origins',
  description:
    'Origins of web pages that may call, in addition to origins of the own host. Browsers get the CORS headers that they need.',
  values: 'origins separated by commas, such as https://app.example.com, or *',
  fallback: 'only origins of the own host, without CORS',
  places: EVERYWHERE,
  read: (text) => listTexts(text, isOrigin),
};

const BACKEND_HOST: ProxySetting<'target' | 'localhost' | 'preserve'> = {
  name: 'skep.dev/backend-host',
  description:
    'Host that the MCP server sees. target: the name of its Service. localhost: for servers that refuse every other. preserve: the value of the client.',
  ...oneOf(['target', 'localhost', 'preserve'], 'target'),
  places: ['servers with a network'],
};

const MCP_PATH: ProxySetting<string> = {
  name: 'skep.dev/mcp-path',
  description:
    'Path of the endpoint at the MCP server. Clients still use /mcp (or /sse) of the proxy, and reach no other path of the server.',
  values: 'a path that begins with /, without a query, such as /api/mcp',
  fallback: '/mcp, with SSE /sse',
  places: ['servers with a network'],
  read: (text) => (text.startsWith('/') && pathPrefix(text) !== undefined ? text : undefined),
};

const BACKEND_CA: ProxySetting<{ readonly name: string; readonly key: string }> = {
  name: 'skep.dev/backend-ca',
  description:
    'ConfigMap, and after a slash its key (default: ca.crt), with certificates in PEM that are trusted for the remote server in addition to the roots of the image.',
  values: 'the name of a ConfigMap, or NAME/KEY',
  fallback: 'only the certificates of the image',
  places: ['remote servers'],
  read: readConfigMapKey,
};

const METRICS: ProxySetting<'enabled' | 'disabled'> = {
  name: 'skep.dev/metrics-listener',
  description:
    'Whether /metrics is served on a port of its own, called metrics. On the port of the clients it is served if spec.telemetry.prometheus is set.',
  ...oneOf(['enabled', 'disabled'], 'enabled'),
  places: EVERYWHERE,
};

const ATTRIBUTES: ProxySetting<Record<string, string>> = {
  name: 'skep.dev/telemetry-attributes',
  description: 'Further attributes of the resource, on all signals that spec.telemetry sends.',
  values: 'key=value pairs separated by commas, such as team=search,place=berlin',
  fallback: 'none',
  places: EVERYWHERE,
  read: attributes,
};

const VARIABLES: ProxySetting<string[]> = {
  name: 'skep.dev/telemetry-variables',
  description:
    'Environment variables of the proxy (resourceOverrides.proxyDeployment.env). Spans have each value in an attribute environment.<NAME>.',
  values: 'names of variables separated by commas',
  fallback: 'none',
  places: EVERYWHERE,
  read: (text) => listTexts(text, (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)),
};

const AUDIT_FAILURE: ProxySetting<AuditFailureChoice> = { ...AUDIT_FAILURE_SETTING, places: EVERYWHERE };

const TOOLS_LOCK: ProxySetting<'enforce' | 'report' | 'off'> = { ...TOOLS_LOCK_SETTING, places: EVERYWHERE };

/** Servers that the cluster of the proxy runs. */
const OWN_SERVERS: readonly Behind[] = ['servers on standard streams', 'servers with a network'];

const SLEEP_AFTER: ProxySetting<number> = {
  name: 'skep.dev/sleep-after',
  description:
    'Time without calls and open streams after which the proxy stops the server. The next call waits until the server has started again. Not together with backendReplicas, more than one proxy, or skep.dev/stdio-sharing: perSession.',
  values: 'a time from 1m to 168h, such as 15m',
  fallback: 'the server never sleeps',
  places: OWN_SERVERS,
  read: (text) => wholeSeconds(text, 60, 7 * 24 * 3600),
};

const WAKE_LIMIT: ProxySetting<number> = {
  name: 'skep.dev/wake-limit',
  description:
    'Time that a call of a sleeping server waits for its start; then the client gets 503 with Retry-After. Only together with skep.dev/sleep-after.',
  values: 'a time from 5s to 10m, such as 90s',
  fallback: '2m',
  places: OWN_SERVERS,
  read: (text) => wholeSeconds(text, 5, 600),
};

/** Returns whether the proxy of an MCPServer stops the server while no client uses it. */
export function isSleeper({ kind, metadata }: Pick<Resource, 'kind' | 'metadata'>): boolean {
  return kind === 'MCPServer' && annotationValue({ metadata }, SLEEP_AFTER, OWN_SERVERS) !== undefined;
}

/** Names of the settings of servers that sleep. */
export const SLEEP_ANNOTATIONS = { after: SLEEP_AFTER.name, limit: WAKE_LIMIT.name, sharing: SHARING.name } as const;

export const PROXY_ANNOTATIONS: readonly ProxySetting<unknown>[] = [
  ...[SHARING, RATE, CALLER_RATE, CALLS, STREAMS, BODY],
  ...[HOSTS, ORIGINS, BACKEND_HOST, MCP_PATH, BACKEND_CA, METRICS, ATTRIBUTES, VARIABLES, AUDIT_FAILURE, TOOLS_LOCK],
  ...[SLEEP_AFTER, WAKE_LIMIT],
];

/** Returns the settings that have an effect for at least one of these types of servers. */
export function annotationsFor(...places: readonly Behind[]): readonly ProxySetting<unknown>[] {
  return PROXY_ANNOTATIONS.filter((setting) => places.some((place) => setting.places.includes(place)));
}

/** Returns the values of the annotations that are valid and have an effect. */
export function proxyTuning(resource: Resource, behind: Behind) {
  const read = <Value>(setting: ProxySetting<Value>) => annotationValue(resource, setting, [behind]);
  return {
    sharing: read(SHARING),
    requestsPerSecond: read(RATE),
    requestsPerSecondOfCaller: read(CALLER_RATE),
    concurrentCalls: read(CALLS),
    streams: read(STREAMS),
    requestBytes: read(BODY),
    allowedHosts: read(HOSTS),
    allowedOrigins: read(ORIGINS),
    backendHost: read(BACKEND_HOST),
    mcpPath: read(MCP_PATH),
    backendCA: read(BACKEND_CA),
    metrics: read(METRICS),
    telemetryAttributes: read(ATTRIBUTES),
    telemetryVariables: read(VARIABLES),
    auditFailure: read(AUDIT_FAILURE),
    sleepAfterSeconds: read(SLEEP_AFTER),
    wakeLimitSeconds: read(WAKE_LIMIT),
  };
}

export type ProxyTuning = ReturnType<typeof proxyTuning>;

function count(name: string, what: string, fallback: string): ProxySetting<number> {
  return {
    name,
    description: `${what} Each pod of the proxy counts for itself.`,
    values: 'a whole number from 1',
    fallback,
    places: EVERYWHERE,
    read: (text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
  };
}

/** Returns the seconds of a duration; undefined if it is not a whole number of seconds within the limits. */
function wholeSeconds(text: string, least: number, most: number): number | undefined {
  const seconds = (parseDuration(text) ?? Number.NaN) / 1000;
  return Number.isInteger(seconds) && seconds >= least && seconds <= most ? seconds : undefined;
}

function bytes(text: string): number | undefined {
  const [, digits, unit] = /^([1-9]\d{0,9})(Ki|Mi)?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const size = Number(digits) * (unit === 'Mi' ? 1024 * 1024 : unit === 'Ki' ? 1024 : 1);
  return size <= BODY_BYTES_MAX ? size : undefined;
}

/** Maximum size of a request body, which the proxy keeps in memory until it has checked the body. */
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

/** Returns undefined if the list is empty or contains an invalid item. */
function listTexts(text: string, fits: (item: string) => boolean): string[] | undefined {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return items.length > 0 && items.every((item) => item === '*' || fits(item)) ? items : undefined;
}

function attributes(text: string): Record<string, string> | undefined {
  const pairs = text.split(',').map((pair) => pair.trim().split(/=(.*)/s, 2));
  if (!pairs.every(([key = '', value]) => /^[A-Za-z0-9_.-]+$/.test(key) && value !== undefined)) return undefined;
  return Object.fromEntries(pairs);
}

function isHost(text: string): boolean {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:\d{1,5})?$/i.test(text);
}

/** Accepts an origin as browsers send it (RFC 6454 section 6.1), with or without a slash at its end. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin !== 'null' && `${url.origin}/` === `${text.replace(/\/$/, '').toLowerCase()}/`;
}
