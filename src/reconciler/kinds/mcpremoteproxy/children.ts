// Renders the children of an MCPRemoteProxy: a service account, configuration and the proxy.

import type { RunConfig } from '#contracts/run-config.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { forwardedHeaders } from '../auth/header-forward.ts';
import type { GeneratedSecret, KindSettings, View } from '../kind.ts';
import { type Mounted, mountedConfigMap } from '../pods/pod.ts';
import { desiredReplicas } from '../proxy/disruption.ts';
import { proxyAccount, proxyFiles } from '../proxy/objects.ts';
import { type ProxyFacts, type ProxyNeeds, proxyNeeds } from '../proxy/proxy.ts';
import { BACKEND_CA } from '../proxy/service.ts';
import { sessionKeys } from '../proxy/session-keys.ts';
import { sessionPasswordFile, sessionRedis } from '../proxy/session-password.ts';
import { proxyIdentity, proxySettings } from '../proxy/settings.ts';
import { proxyDeployment, proxyDisruption, proxyService } from '../proxy/workload.ts';
import { reportConfigMap, reportRights } from '../tools-lock.ts';
import { proxyOf, type RemoteProxy, sharedSessions } from './facts.ts';

export function children(self: RemoteProxy, view: View, settings: KindSettings): readonly KubeObject[] {
  const { spec } = self;
  const proxy = proxyOf(self);
  const needs = proxyNeeds(proxy, view, settings);
  const { apiGroup, images } = settings;
  const { backendCA } = proxy.tuning;
  const atStart = backendCA === undefined ? [] : [backendCA.name];
  const files = proxyFiles(proxy, runConfig(self, needs, view), { view, apiGroup, needs, atStart });
  return [
    // skep renders no rights for an account that the manifest names.
    ...(spec.serviceAccount === undefined ? proxyAccount(proxy, needs, reportRights(self.resource)) : []),
    ...files.objects,
    proxyDeployment(proxy, needs, {
      image: images.proxy,
      account: spec.serviceAccount ?? proxy.names.account,
      needsToken: spec.serviceAccount === undefined && reportConfigMap(self.resource) !== undefined,
      // If undefined, Kubernetes starts one pod until another controller sets the number.
      replicas: spec.replicas,
      podTemplateSpec: spec.podTemplateSpec,
      resources: spec.resources,
      readyAfterSeconds: 15,
      files: [...forwardedHeaders(spec.headerForward).files, ...sessionPasswordFile(sharedSessions(spec))],
      mounted: [...files.mounted, ...certificates(proxy)],
      annotations: files.checksums,
    }),
    proxyService(proxy),
    ...proxyDisruption(proxy, desiredReplicas(spec.replicas, view, 'Deployment', proxy.names.deployment)),
  ];
}

export function generated(self: RemoteProxy): readonly GeneratedSecret[] {
  return [sessionKeys(proxyOf(self))];
}

function certificates({ tuning: { backendCA } }: ProxyFacts): readonly Mounted[] {
  if (backendCA === undefined) return [];
  const { name, key } = backendCA;
  return [mountedConfigMap('backend-ca', BACKEND_CA.directory, { name, items: [{ key, path: BACKEND_CA.file }] })];
}

/** Writes keys in a fixed order, so that equal proxies have equal texts. */
function runConfig(self: RemoteProxy, needs: ProxyNeeds, view: View): RunConfig {
  const { spec } = self;
  const proxy = proxyOf(self);
  return {
    ...proxyIdentity(proxy),
    transport: spec.transport,
    proxy_mode: spec.transport,
    host: '0.0.0.0',
    port: proxy.port,
    remote_url: spec.remoteURL,
    ...forwardedHeaders(spec.headerForward).block,
    ...proxySettings(proxy, needs, view),
    ...scaling(spec),
  };
}

function scaling(spec: RemoteProxy['spec']): Pick<RunConfig, 'scaling_config'> {
  const redis = sessionRedis(sharedSessions(spec));
  return redis === undefined ? {} : { scaling_config: { session_redis: redis } };
}
