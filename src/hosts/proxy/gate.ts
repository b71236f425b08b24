// Creates the rules by which a proxy accepts requests: origins, limits, and the state of the audit log.

import type { ResourceSettings } from '#auth/settings.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { Denial } from '#gateway/gate/codes.ts';
import { createLimits } from '#gateway/gate/limits.ts';
import { originRules } from '#gateway/gate/origin.ts';
import type { Doorway, Place } from '#gateway/proxy/doorway.ts';
import { AUDIT_UNWRITABLE, denialRefusal, type Refusal } from '#gateway/proxy/faults.ts';
import type { ServiceLimits } from '#gateway/proxy/settings.ts';
import type { Recorder } from './record.ts';

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
    refuse: (request) => refusalOf(rules.refuse(request)),
    refuseRebinding: (request) => refusalOf(rules.refuseRebinding(request)),
  };
}

function refusalOf(denial: Denial | undefined): Refusal | undefined {
  return denial === undefined ? undefined : denialRefusal(denial);
}

type Enter = (kind: 'call' | 'stream', caller: string) => Place | { readonly refusal: Refusal };

export function openLimits(limits: ServiceLimits, clock: { monotonic(): number }): Enter {
  const counted = createLimits(limits);
  return function enter(kind, caller) {
    const place = counted.enter(kind, caller, clock.monotonic());
    return place.ok ? place : { refusal: denialRefusal(place.denial) };
  };
}

/** If the configuration requires an audit, refuses calls while audit events cannot be written. */
export function refuseUnaudited({ audit_config: audit }: RunConfig, recorder: Recorder, enter: Enter): Enter {
  if (!audit.enabled || audit.on_failure !== 'refuse') return enter;
  return (kind, caller) => (recorder.fails() ? { refusal: AUDIT_UNWRITABLE } : enter(kind, caller));
}
