// Renders the blocks of a proxy's configuration that do not depend on the kind of the resource.

import { AUTHZ_DIRECTORY, AUTHZ_FILE } from '#contracts/authz-config.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import { hasPolicies, writtenGroups } from '../auth/authz-settings.ts';
import type { View } from '../kind.ts';
import { secretPath } from '../pods/secret-files.ts';
import { reportConfigMap, toolsLock } from '../tools-lock.ts';
import { collectorHeaderFiles, type ProxyFacts, type ProxyNeeds } from './proxy.ts';
import { type ServiceBlocks, serviceBlocks } from './service.ts';
import { toolBlocks } from './tools.ts';

type Blocks = Pick<
  RunConfig,
  | 'trust_proxy_headers'
  | 'endpoint_prefix'
  | 'oidc_config'
  | 'authz_config_path'
  | 'authz_groups'
  | 'audit_config'
  | 'telemetry_config'
  | 'tools_filter'
  | 'tools_override'
  | 'tools_lock'
  | 'webhooks'
> &
  ServiceBlocks &
  OutgoingAuthBlocks;

/** Returns the first keys of the configuration: the names of the proxy and its group. */
export function proxyIdentity({ name, namespace, spec }: ProxyFacts) {
  const group = spec.groupRef === undefined ? {} : { group: spec.groupRef };
  return { schema_version: 'v0.1.0' as const, name, namespace, ...group };
}

/** Writes keys in a fixed order, so that equal resources have equal texts. */
export function proxySettings(proxy: ProxyFacts, needs: ProxyNeeds, view: View): Blocks {
  const { oidc, auth } = needs;
  const { name, spec } = proxy;
  return {
    trust_proxy_headers: spec.trustProxyHeaders,
    endpoint_prefix: isFilled(spec.endpointPrefix) ? spec.endpointPrefix : undefined,
    oidc_config: oidc?.settings,
    ...auth.blocks,
    authz_config_path: hasPolicies(spec) ? `${AUTHZ_DIRECTORY}/${AUTHZ_FILE}` : undefined,
    ...groups(spec.authzConfig),
    audit_config: { enabled: spec.audit?.enabled === true, component: name, on_failure: proxy.tuning.auditFailure },
    ...telemetry(proxy, needs),
    ...toolBlocks(spec.toolConfigRef, view),
    tools_lock: toolsLockBlock(proxy, view),
    ...serviceBlocks(proxy),
    webhooks: needs.webhooks?.block,
  };
}

/**
 * Returns the resource's settings about groups. The author's ConfigMap with the policies is mounted unchanged, so skep
 * cannot add these settings to it.
 */
function groups(authz: ProxyFacts['spec']['authzConfig']): Pick<RunConfig, 'authz_groups'> {
  const written = writtenGroups(authz);
  return authz?.configMap === undefined || Object.keys(written).length === 0 ? {} : { authz_groups: written };
}

/**
 * Returns the settings of the tools lock. The proxy writes a report to the cluster only if skep renders its account's
 * rights.
 */
function toolsLockBlock({ resource, hasOwnAccount }: ProxyFacts, view: View): RunConfig['tools_lock'] {
  const held = toolsLock(resource, view);
  const place = hasOwnAccount ? reportConfigMap(resource) : undefined;
  return held && { ...held, ...(place === undefined ? {} : { report_to: place }) };
}

function telemetry(
  { name, tuning }: ProxyFacts,
  { telemetry: settings }: ProxyNeeds,
): Pick<RunConfig, 'telemetry_config'> {
  const { openTelemetry, prometheus = false } = settings ?? {};
  const otel = openTelemetry?.enabled === true ? openTelemetry : undefined;
  if (otel === undefined && !prometheus) return {};
  return {
    telemetry_config: {
      service_name: isFilled(otel?.serviceName) ? otel.serviceName : name,
      endpoint: isFilled(otel?.endpoint) ? otel.endpoint : undefined,
      headers: filledMap(otel?.headers ?? {}),
      headers_from_file: filledMap(
        Object.fromEntries(collectorHeaderFiles(settings).map(({ name, file }) => [name, secretPath(file)])),
      ),
      ca_cert_path: otel?.bundle?.path,
      insecure: otel?.insecure === true || otel?.endpoint?.startsWith('http://') === true,
      metrics_enabled: otel?.metrics?.enabled === true,
      tracing_enabled: otel?.tracing?.enabled === true,
      sampling_rate: otel?.tracing?.samplingRate ?? '0.05',
      use_legacy_attributes: otel?.useLegacyAttributes !== false,
      enable_prometheus_metrics_path: prometheus,
      custom_attributes: filledMap({ ...otel?.attributes, ...tuning.telemetryAttributes }),
      environment_variables: tuning.telemetryVariables,
    },
  };
}

function filledMap(map: Readonly<Record<string, string>>): Record<string, string> | undefined {
  return Object.keys(map).length === 0 ? undefined : { ...map };
}

function isFilled(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
