// Translates the configuration of a virtual server into the configuration of a proxy, because the gates of both are the
// same code.

import assert from 'node:assert/strict';
import type { RunConfig } from '#contracts/run-config.ts';
import { ownMetricsPort } from '#contracts/virtual/observability.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly namespace: string;
}

export function gateConfig(config: VmcpConfig, { host, port, namespace }: Place): RunConfig {
  const { name, audit, auditFailure } = config;
  return {
    schema_version: 'v0.1.0',
    name,
    namespace,
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host,
    port,
    trust_proxy_headers: false,
    oidc_config: oidcConfig(config),
    audit_config: { enabled: audit !== undefined, component: audit?.component ?? name, on_failure: auditFailure },
    telemetry_config: telemetryConfig(config),
    metrics: metricsPlace(config, host),
    rate_limiting: config.rateLimiting,
  };
}

function oidcConfig({ incomingAuth: { type, oidc } }: VmcpConfig): RunConfig['oidc_config'] {
  if (type !== 'oidc') return undefined;
  assert(oidc !== undefined, 'a rule of the configuration requires the block that its type names');
  return {
    issuer: oidc.issuer,
    issuer_is_api_server: oidc.issuerIsApiServer,
    audience: oidc.audience,
    service_account: oidc.serviceAccount,
    jwks_url: oidc.jwksUrl,
    introspection_url: oidc.introspectionUrl,
    client_id: oidc.clientId,
    ca_bundle_path: oidc.caBundlePath,
    auth_token_file: oidc.authTokenFile,
    jwks_allow_private_ip: oidc.jwksAllowPrivateIp,
    protected_resource_allow_private_ip: oidc.protectedResourceAllowPrivateIp,
    insecure_allow_http: oidc.insecureAllowHttp,
    resource_url: oidc.resource,
    scopes: [...oidc.scopes],
  };
}

/** Returns undefined if metrics have no separate listener. */
function metricsPlace({ telemetry }: VmcpConfig, host: string): RunConfig['metrics'] {
  const port = telemetry === undefined ? undefined : ownMetricsPort(telemetry);
  return port === undefined ? undefined : { host, port };
}

function telemetryConfig({ telemetry }: VmcpConfig): RunConfig['telemetry_config'] {
  if (telemetry === undefined) return undefined;
  return {
    service_name: telemetry.serviceName,
    endpoint: telemetry.endpoint,
    headers: telemetry.headers,
    headers_from_variable: telemetry.headersFromEnv,
    ca_cert_path: telemetry.caCertPath,
    insecure: telemetry.insecure,
    metrics_enabled: telemetry.metricsEnabled,
    tracing_enabled: telemetry.tracingEnabled,
    sampling_rate: telemetry.samplingRate,
    use_legacy_attributes: telemetry.useLegacyAttributes,
    enable_prometheus_metrics_path: telemetry.enablePrometheusMetricsPath && telemetry.metricsOnTransportPort !== false,
    custom_attributes: telemetry.customAttributes,
    environment_variables: telemetry.environmentVariables,
  };
}
