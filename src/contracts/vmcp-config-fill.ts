// A virtual server's configuration as people write it, with everything filled in that they may leave out: what a
// cluster resolves is refused with what to write in its place. A whole one comes out as it went in. Knows nothing about
// files.

import { isObject, type Json, type JsonObject } from '../std/json.ts';
import { fillWorkflows } from './vmcp-config-fill-tools.ts';

/** `fault`: pointer and words. */
export type Filled = { readonly value: Json } | { readonly fault: string };

export function fillVmcpConfig(value: Json): Filled {
  if (!isObject(value)) return { value };
  const fault = referenceFault(value);
  if (fault !== undefined) return { fault };
  const { audit, telemetry, ...rest } = value;
  const filled: JsonObject = {
    ...rest,
    groupRef: rest.groupRef ?? rest.name,
    backends: rest.backends ?? [],
    incomingAuth: fillIncoming(rest.incomingAuth),
    outgoingAuth: fillOutgoing(rest.outgoingAuth, rest.backends),
    aggregation: fillAggregation(rest.aggregation),
    operational: fillOperational(rest.operational),
    compositeTools: fillWorkflows(rest.compositeTools),
  };
  if (rest.optimizer !== undefined) filled.optimizer = fillBlock(rest.optimizer, OPTIMIZER);
  if (telemetry !== undefined) filled.telemetry = fillBlock(telemetry, { ...TELEMETRY, serviceName: rest.name });
  // A block that says `enabled: false` is as good as none.
  if (audit !== undefined && !(isObject(audit) && audit.enabled !== true)) {
    filled.audit = fillBlock(audit, { ...AUDIT, component: rest.name });
  }
  return { value: definedOnly(filled) };
}

const TELEMETRY: JsonObject = {
  tracingEnabled: false,
  metricsEnabled: false,
  samplingRate: '0.05',
  insecure: false,
  enablePrometheusMetricsPath: false,
  useLegacyAttributes: true,
};

const AUDIT: JsonObject = { includeRequestData: false, includeResponseData: false, maxDataSize: 1024 };

function referenceFault({ compositeToolRefs, aggregation }: JsonObject): string | undefined {
  if (compositeToolRefs !== undefined) {
    return '/compositeToolRefs names resources of a cluster: write the workflows into /compositeTools';
  }
  const tools = isObject(aggregation) && Array.isArray(aggregation.tools) ? aggregation.tools : [];
  const index = tools.findIndex((each) => isObject(each) && each.toolConfigRef !== undefined);
  if (index < 0) return undefined;
  return `/aggregation/tools/${index}/toolConfigRef names a resource of a cluster: write filter and overrides in its place`;
}

const OPTIMIZER: JsonObject = {
  embeddingServiceTimeout: '30s',
  maxToolsToReturn: 8,
  hybridSearchSemanticRatio: '0.5',
  semanticDistanceThreshold: '1.0',
};

/** What is there stays; what is no object is for the schema to refuse. */
function fillBlock(value: Json | undefined, defaults: JsonObject): Json | undefined {
  if (value !== undefined && !isObject(value)) return value;
  return { ...defaults, ...value };
}

function definedOnly(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function fillIncoming(value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value;
  const { oidc } = value;
  const filled = { ...value, authz: value.authz ?? { type: 'none' } };
  if (!isObject(oidc)) return filled;
  const { protectedResourceAllowPrivateIp = false, jwksAllowPrivateIp = false, insecureAllowHttp = false } = oidc;
  return {
    ...filled,
    oidc: definedOnly({
      ...oidc,
      // RFC 8707: a token is for the resource that it names.
      resource: oidc.resource ?? oidc.audience,
      scopes: oidc.scopes ?? ['openid'],
      ...{ protectedResourceAllowPrivateIp, jwksAllowPrivateIp, insecureAllowHttp },
    }),
  };
}

const UNAUTHENTICATED: JsonObject = { type: 'unauthenticated' };

/** Document 3, Authentication, 3: what is said of a backend wins over the default; nothing said means no credentials. */
function fillOutgoing(value: Json | undefined, listed: Json | undefined): Json | undefined {
  if (value !== undefined && !isObject(value)) return value;
  const { source = 'inline', default: fallback = UNAUTHENTICATED, backends = {}, ...others } = value ?? {};
  if (!isObject(backends)) return value;
  const names = (Array.isArray(listed) ? listed : []).flatMap((each) =>
    isObject(each) && typeof each.name === 'string' ? [each.name] : [],
  );
  const strategies = names.map((name): [string, Json] => [
    name,
    (Object.hasOwn(backends, name) ? backends[name] : undefined) ?? fallback,
  ]);
  const all = Object.entries({ ...backends, ...Object.fromEntries(strategies) });
  return { ...others, source, backends: Object.fromEntries(all.map(([name, each]) => [name, fillStrategy(each)])) };
}

const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';

function fillStrategy(value: Json | undefined): Json {
  if (!isObject(value) || !isObject(value.tokenExchange)) return value ?? null;
  const { subjectTokenType = 'access_token' } = value.tokenExchange;
  const short = typeof subjectTokenType === 'string' && !subjectTokenType.startsWith(TOKEN_TYPE);
  const whole = short ? TOKEN_TYPE + subjectTokenType : subjectTokenType;
  return { ...value, tokenExchange: { ...value.tokenExchange, subjectTokenType: whole } };
}

function fillAggregation(value: Json | undefined): Json | undefined {
  if (value !== undefined && !isObject(value)) return value;
  const {
    conflictResolution = 'prefix',
    conflictResolutionConfig,
    tools,
    excludeAllTools = false,
    ...others
  } = value ?? {};
  return definedOnly({
    ...others,
    conflictResolution,
    conflictResolutionConfig: fillBlock(conflictResolutionConfig, { prefixFormat: '{workload}_' }),
    tools: Array.isArray(tools) ? tools.map((each) => fillBlock(each, { excludeAll: false }) ?? null) : tools,
    excludeAllTools,
  });
}

const FAILURE_HANDLING: JsonObject = {
  healthCheckInterval: '30s',
  unhealthyThreshold: 3,
  healthCheckTimeout: '10s',
  statusReportingInterval: '30s',
  partialFailureMode: 'fail',
};

function fillOperational(value: Json | undefined): Json | undefined {
  if (value !== undefined && !isObject(value)) return value;
  const { timeouts, failureHandling, ...others } = value ?? {};
  const filled = fillBlock(failureHandling, FAILURE_HANDLING);
  const breaker = { enabled: false, failureThreshold: 5, timeout: '60s' };
  return definedOnly({
    ...others,
    timeouts: fillBlock(timeouts, { default: '30s' }),
    failureHandling: isObject(filled)
      ? { ...filled, circuitBreaker: fillBlock(filled.circuitBreaker, breaker) ?? null }
      : filled,
  });
}
