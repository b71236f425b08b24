// Finds mistakes in an MCPServer that neither its schema nor CEL can express: in the resource (rules), and in the
// objects that it references (inspect).

import { groupOf } from '#kubernetes/rules/object.ts';
import { pointerToken } from '#std/json.ts';
import { annotationFindings } from '../annotations.ts';
import { inlineAuthzFindings, namedAuthzFindings } from '../auth/authz-findings.ts';
import { externalAuthFindings, hasOwnIssuer } from '../auth/external-auth-findings.ts';
import { audienceFindings, namedOIDCFindings, oidcFindings } from '../auth/oidc-findings.ts';
import type { Finding, Resource, View } from '../kind.ts';
import { listingFindings } from '../listing.ts';
import { podTemplateFindings } from '../pods/pod-template.ts';
import { PROXY_ANNOTATIONS } from '../proxy/annotations.ts';
import { rateLimitFindings } from '../proxy/rate-limit-findings.ts';
import { sessionFindings } from '../proxy/session-findings.ts';
import { namedTelemetryFindings } from '../proxy/telemetry-settings.ts';
import { toolConfigFindings } from '../proxy/tools.ts';
import { namedWebhookFindings } from '../proxy/webhook-settings.ts';
import { toolsLockFindings } from '../tools-lock.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { backendEnv } from './backend-env.ts';
import {
  behindOf,
  isStdio,
  isTime,
  proxyOrigin,
  proxyReplicas,
  restartKey,
  type Server,
  serverReplicas,
} from './facts.ts';
import { idleFindings } from './idle.ts';
import { profileOf } from './permission-profile.ts';
import { sleepFindings } from './sleep-findings.ts';

export function rules(self: Server): readonly Finding[] {
  const { spec, resource } = self;
  return [
    ...podTemplateFindings(spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...oidcFindings(spec.oidcConfig),
    ...inlineAuthzFindings(spec.authzConfig),
    ...secretEnvFindings({ spec }),
    ...restartFindings(resource),
    ...(spec.transport === 'streamable-http' ? [] : sessionFindings({ ...spec, replicas: proxyReplicas({ spec }) })),
    ...idleFindings({ spec }),
    ...replicaFindings(self),
    ...sleepFindings(self),
    ...annotationFindings(resource, PROXY_ANNOTATIONS, [behindOf({ spec })]),
    ...listingFindings(resource),
  ];
}

/**
 * Finds replica counts that the transport does not allow. The status reports these counts only after the deployment.
 */
function replicaFindings(self: Server): readonly Finding[] {
  const { replicas, backendReplicas } = self.spec;
  return [
    ...(replicas === proxyReplicas(self)
      ? []
      : [fieldWithoutEffect('/spec/replicas', 'a server on standard streams has one proxy')]),
    ...(backendReplicas === serverReplicas(self)
      ? []
      : [
          fieldWithoutEffect(
            '/spec/backendReplicas',
            'a server on standard streams is one process, unless skep.dev/stdio-sharing is perSession',
          ),
        ]),
  ];
}

/** Warns if a Secret sets a variable that is already set: the Secret would silently take precedence in the pod. */
function secretEnvFindings({ spec }: Pick<Server, 'spec'>): readonly Finding[] {
  const { secrets = [], ...plain } = spec;
  if (secrets.length === 0) return [];
  const taken = new Set(backendEnv(plain).map(({ name }) => name));
  return secrets.flatMap(({ key, targetEnvName }, index): readonly Finding[] => {
    const name = targetEnvName ?? key;
    if (!taken.has(name)) {
      taken.add(name);
      return [];
    }
    const message = `${name} is set twice: the value of this Secret wins`;
    return [{ code: 'env-set-twice', severity: 'warning', pointer: `/spec/secrets/${index}`, message }];
  });
}

function restartFindings({ apiVersion, metadata }: Resource): readonly Finding[] {
  const key = restartKey(groupOf(apiVersion));
  const time = metadata.annotations?.[key];
  if (time === undefined || isTime(time)) return [];
  const pointer = `/metadata/annotations/${pointerToken(key)}`;
  const message = `"${time}" is not a time such as 2026-11-21T12:00:00Z, so nothing is restarted`;
  return [{ code: 'restart-time-invalid', severity: 'warning', pointer, message }];
}

export function inspect(self: Server, view: View): readonly Finding[] {
  const { spec } = self;
  return [
    ...namedOIDCFindings(spec, view),
    ...(hasOwnIssuer(spec, view) ? [] : audienceFindings(spec, view, proxyOrigin(self))),
    ...namedAuthzFindings(spec, view),
    ...toolConfigFindings(spec.toolConfigRef, view),
    ...namedTelemetryFindings(spec, view),
    ...externalAuthFindings(spec, isStdio(spec), view),
    ...profileFindings(self, view),
    ...rateLimitFindings(spec, view),
    ...namedWebhookFindings(spec, view),
    ...toolsLockFindings(self.resource, view),
  ];
}

function profileFindings(self: Server, view: View): readonly Finding[] {
  const profile = profileOf(self, view);
  const pointer = '/spec/permissionProfile';
  if (profile === undefined) return [];
  if ('fault' in profile) {
    return [{ code: 'permission-profile-invalid', severity: 'error', pointer, message: profile.fault }];
  }
  return profile.unenforced.map((message) => {
    return { code: 'permission-profile-unenforced', severity: 'warning', pointer, message };
  });
}
