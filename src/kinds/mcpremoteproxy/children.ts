// The objects that an MCPRemoteProxy becomes (kinds.md 0 and 2.2): an account, configuration, the proxy. Knows nothing
// about what lives.

import type { RunConfig } from '../../contracts/run-config.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Settings, View } from '../kind.ts';
import { forwardedHeaders } from '../shared/header-forward.ts';
import { type ProxyNeeds, proxyNeeds } from '../shared/proxy.ts';
import { proxyAccount, proxyFiles } from '../shared/proxy-objects.ts';
import { proxyIdentity, proxySettings } from '../shared/proxy-settings.ts';
import { proxyDeployment, proxyService } from '../shared/proxy-workload.ts';
import { proxyOf, type RemoteProxy } from './facts.ts';

export function children(self: RemoteProxy, view: View, settings: Settings): readonly KubeObject[] {
  const { spec, name } = self;
  const proxy = proxyOf(self);
  const needs = proxyNeeds(proxy, view, settings);
  const { apiGroup, images } = settings;
  const files = proxyFiles(proxy, runConfig(self, needs, view), needs, { view, apiGroup, mounted: [] });
  return [
    // An account of the author's gets the rights that its author gives it.
    ...(spec.serviceAccount === undefined ? proxyAccount(proxy, needs, []) : []),
    ...files.objects,
    proxyDeployment(proxy, needs, {
      image: images.proxy,
      account: spec.serviceAccount ?? proxy.names.account,
      needsToken: false,
      // One at first; later as many as others choose (kinds.md 2.2).
      replicas: undefined,
      ...(spec.resources === undefined ? {} : { resources: spec.resources }),
      readyAfterSeconds: 15,
      env: forwardedHeaders(spec.headerForward, name).env,
      mounted: [],
      annotations: files.checksums,
    }),
    proxyService(proxy),
  ];
}

/** Keys in the order of the contract: equal proxies give equal text. */
function runConfig(self: RemoteProxy, needs: ProxyNeeds, view: View): RunConfig {
  const { spec, name } = self;
  const proxy = proxyOf(self);
  return {
    ...proxyIdentity(proxy),
    transport: spec.transport,
    proxy_mode: spec.transport,
    host: '0.0.0.0',
    port: proxy.port,
    remote_url: spec.remoteURL,
    ...forwardedHeaders(spec.headerForward, name).block,
    ...proxySettings(proxy, needs, view),
  };
}
