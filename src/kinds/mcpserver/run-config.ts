// Renders an MCPServer into the configuration of its proxy. Knows nothing about the objects around it.

import { AUTHZ_DIRECTORY, AUTHZ_FILE } from '../../contracts/authz-config.ts';
import type { RunConfig } from '../../contracts/run-config.ts';
import { isObject } from '../../std/json.ts';
import type { View } from '../kind.ts';
import type { ResolvedOIDC } from '../shared/oidc-settings.ts';
import { backendEnv } from './backend-env.ts';
import { backendPort, childNames, clientTransport, isStdio, proxyPort, type Server } from './facts.ts';

/** Where a permission profile out of a ConfigMap is mounted. */
export const PROFILE_DIRECTORY = '/etc/toolhive/profiles';

type Tools = Pick<RunConfig, 'tools_filter' | 'tools_override'>;

/** Keys in the order of the contract: equal servers give equal text. */
export function runConfig(self: Server, oidc: ResolvedOIDC | undefined, view: View): RunConfig {
  const { name, namespace, spec } = self;
  return {
    schema_version: 'v0.1.0',
    name,
    namespace,
    ...(spec.groupRef === undefined ? {} : { group: spec.groupRef }),
    image: spec.image,
    ...(spec.args === undefined ? {} : { cmd_args: spec.args }),
    env_vars: plainEnv(self),
    ...volumes(self),
    ...profile(self),
    transport: spec.transport,
    proxy_mode: clientTransport(spec),
    host: '0.0.0.0',
    port: proxyPort(spec),
    ...target(self),
    trust_proxy_headers: spec.trustProxyHeaders,
    ...(filled(spec.endpointPrefix) ? { endpoint_prefix: spec.endpointPrefix } : {}),
    ...(oidc === undefined ? {} : { oidc_config: oidc.settings }),
    ...(spec.authzConfig === undefined ? {} : { authz_config_path: `${AUTHZ_DIRECTORY}/${AUTHZ_FILE}` }),
    audit_config: { enabled: spec.audit?.enabled === true, component: name },
    ...telemetry(self),
    ...tools(self, view),
    ...scaling(self),
  };
}

function filled(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

function plainEnv({ spec }: Server): Record<string, string> {
  return Object.fromEntries(backendEnv(spec).flatMap((env) => ('value' in env ? [[env.name, env.value]] : [])));
}

function volumes({ spec }: Server): Pick<RunConfig, 'volumes'> {
  if (spec.volumes === undefined || spec.volumes.length === 0) return {};
  return {
    volumes: spec.volumes.map(
      ({ hostPath, mountPath, readOnly }) => `${hostPath}:${mountPath}${readOnly ? ':ro' : ''}`,
    ),
  };
}

function profile({ spec }: Server): Pick<RunConfig, 'permission_profile_name_or_path'> {
  const { permissionProfile } = spec;
  if (permissionProfile === undefined) return {};
  const { type, name, key } = permissionProfile;
  return { permission_profile_name_or_path: type === 'builtin' ? name : `${PROFILE_DIRECTORY}/${key}` };
}

/** Where the MCP server is: a Service, or the standard streams of the one pod there is. */
function target({ name, namespace, spec }: Server): Pick<RunConfig, 'attach' | 'target_host' | 'target_port'> {
  const { backendService, statefulSet } = childNames(name);
  if (isStdio(spec)) return { attach: { namespace, pod: `${statefulSet}-0`, container: 'mcp' } };
  return { target_host: `${backendService}.${namespace}.svc.cluster.local`, target_port: backendPort(spec) };
}

function telemetry({ name, spec }: Server): Pick<RunConfig, 'telemetry_config'> {
  const { openTelemetry, prometheus } = spec.telemetry ?? {};
  const otel = openTelemetry?.enabled === true ? openTelemetry : undefined;
  if (otel === undefined && prometheus?.enabled !== true) return {};
  const headers = (otel?.headers ?? []).map((header) => splitHeader(header));
  return {
    telemetry_config: {
      service_name: filled(otel?.serviceName) ? otel.serviceName : name,
      ...(filled(otel?.endpoint) ? { endpoint: otel.endpoint.replace(/^https?:\/\//, '') } : {}),
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
      insecure: otel?.insecure === true,
      metrics_enabled: otel?.metrics?.enabled === true,
      tracing_enabled: otel?.tracing?.enabled === true,
      sampling_rate: otel?.tracing?.samplingRate ?? '0.05',
      use_legacy_attributes: otel?.useLegacyAttributes !== false,
      enable_prometheus_metrics_path: prometheus?.enabled === true,
    },
  };
}

function splitHeader(header: string): [string, string] {
  const equals = header.indexOf('=');
  return [header.slice(0, equals), header.slice(equals + 1)];
}

/** An MCPToolConfig wins over the deprecated list. */
function tools({ spec }: Server, view: View): Tools {
  if (spec.toolConfigRef === undefined) return toolFilter(spec.tools ?? []);
  const config = view.find('MCPToolConfig', spec.toolConfigRef.name)?.spec;
  if (!isObject(config)) return {};
  const { toolsFilter, toolsOverride } = config;
  return {
    ...toolFilter(Array.isArray(toolsFilter) ? toolsFilter.map(String) : []),
    ...(isObject(toolsOverride) ? { tools_override: toolsOverride as NonNullable<Tools['tools_override']> } : {}),
  };
}

function toolFilter(names: readonly string[]): Tools {
  return names.length === 0 ? {} : { tools_filter: [...names] };
}

function scaling({ spec }: Server): Pick<RunConfig, 'scaling_config'> {
  const { backendReplicas, sessionStorage } = spec;
  const redis = sessionStorage?.provider === 'redis' ? sessionStorage : undefined;
  if (backendReplicas === undefined && redis === undefined) return {};
  return {
    scaling_config: {
      ...(backendReplicas === undefined ? {} : { backend_replicas: backendReplicas }),
      ...(redis?.address === undefined
        ? {}
        : {
            session_redis: {
              address: redis.address,
              db: redis.db,
              ...(filled(redis.keyPrefix) ? { key_prefix: redis.keyPrefix } : {}),
            },
          }),
    },
  };
}
