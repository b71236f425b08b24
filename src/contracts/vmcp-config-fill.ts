// Fills in all parts that people may leave out of a virtual server's configuration. References to objects of a cluster
// are refused, with a remedy. A complete configuration is not changed.

import { addressFault } from '#std/address/address.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { fillDefaults } from './file-form.ts';
import { VMCP_MODEL } from './virtual/config-model.ts';

/** `fault`: pointer and description of the fault. */
export type Filled = { readonly value: Json } | { readonly fault: string };

export function fillVmcpConfig(value: Json, ownUrl: string): Filled {
  if (!isObject(value)) return { value };
  const fault = referenceFault(value);
  if (fault !== undefined) return { fault };
  const { audit, ...rest } = value;
  const filled: JsonObject = {
    ...rest,
    groupRef: rest.groupRef ?? rest.name,
    backends: rest.backends ?? [],
    incomingAuth: fillIncoming(rest.incomingAuth, ownUrl),
    outgoingAuth: fillOutgoing(rest.outgoingAuth, rest.backends),
  };
  if (isObject(rest.telemetry)) filled.telemetry = { serviceName: rest.name, ...rest.telemetry };
  // An audit block without `enabled: true` has no effect, and is removed.
  if (audit !== undefined && !(isObject(audit) && audit.enabled !== true)) {
    filled.audit = isObject(audit) ? { component: rest.name, ...audit } : audit;
  }
  return { value: fillDefaults(VMCP_MODEL, definedOnly(filled)) };
}

function referenceFault({ compositeToolRefs, aggregation }: JsonObject): string | undefined {
  if (compositeToolRefs !== undefined) {
    return '/compositeToolRefs names resources of a cluster: write the workflows into /compositeTools';
  }
  const tools = isObject(aggregation) && Array.isArray(aggregation.tools) ? aggregation.tools : [];
  const index = tools.findIndex((each) => isObject(each) && each.toolConfigRef !== undefined);
  if (index < 0) return undefined;
  return `/aggregation/tools/${index}/toolConfigRef names a resource of a cluster: write filter and overrides in its place`;
}

function definedOnly(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function fillIncoming(value: Json | undefined, ownUrl: string): Json | undefined {
  if (!isObject(value)) return value;
  const { oidc } = value;
  const filled = { ...value, authz: value.authz ?? { type: 'none' } };
  if (!isObject(oidc)) return filled;
  return {
    ...filled,
    oidc: definedOnly({
      ...oidc,
      // A token is for one resource (RFC 8707). Clients read the resource's metadata at its URL, so an audience that is
      // not a URL cannot be the resource.
      resource: oidc.resource ?? (isResourceUrl(oidc.audience) ? oidc.audience : ownUrl),
      scopes: oidc.scopes ?? ['openid'],
    }),
  };
}

function isResourceUrl(audience: Json | undefined): audience is string {
  return typeof audience === 'string' && addressFault('resource', audience) === undefined;
}

const UNAUTHENTICATED: JsonObject = { type: 'unauthenticated' };

/** Fills in the strategy of each backend: its own strategy, the default strategy, or no credentials. */
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

/** Replaces the short name of a token type by its full name. */
function fillStrategy(value: Json | undefined): Json {
  if (!isObject(value) || !isObject(value.tokenExchange)) return value ?? null;
  const { subjectTokenType } = value.tokenExchange;
  if (subjectTokenType === undefined) return value;
  const short = typeof subjectTokenType === 'string' && !subjectTokenType.startsWith(TOKEN_TYPE);
  const whole = short ? TOKEN_TYPE + subjectTokenType : subjectTokenType;
  return { ...value, tokenExchange: { ...value.tokenExchange, subjectTokenType: whole } };
}
