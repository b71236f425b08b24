// Who may reach a proxy from where, and how much of it there may be at once, as its configuration says.

import type { ResourceSettings } from '#auth/settings.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { createLimits } from '#gateway/gate/limits.ts';
import { originRules } from '#gateway/gate/origin.ts';
import type { Doorway, Place } from '#gateway/proxy/doorway.ts';
import { denialRefusal, type Refusal } from '#gateway/proxy/faults.ts';
import type { ServiceLimits } from '#gateway/proxy/settings.ts';

export function openDoorway(config: RunConfig, resource: ResourceSettings | undefined): Doorway {
  const rules = originRules({
    listenHost: config.host,
    resourceUrl: resource?.resourceUrl,
    allowedHosts: config.allowed_hosts,
    allowedOrigins: config.allowed_origins,
    trustForwarded: config.trust_proxy_headers,
  });
  return {
    headers: rules.headers,
    preflight: rules.preflight,
    refuse(request) {
      const denial = rules.refuse(request);
      return denial === undefined ? undefined : denialRefusal(denial);
    },
  };
}

export function openLimits(
  limits: ServiceLimits,
  clock: { monotonic(): number },
): (kind: 'call' | 'stream', caller: string) => Place | { readonly refusal: Refusal } {
  const counted = createLimits(limits);
  return function enter(kind, caller) {
    const place = counted.enter(kind, caller, clock.monotonic());
    return place.ok ? place : { refusal: denialRefusal(place.denial) };
  };
}
