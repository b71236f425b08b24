// Renders a VirtualMCPServer into the configuration of its process.

import assert from 'node:assert/strict';
import { type GroupFields, readAuthzConfig } from '#contracts/authz-config.ts';
import { OPTIMIZER_DEFAULTS } from '#contracts/virtual/optimizer.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Aggregation, CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { hasPolicies, renderedPolicies, writtenGroups } from '../auth/authz-settings.ts';
import type { View } from '../kind.ts';
import type { TelemetrySettings } from '../proxy/telemetry-settings.ts';
import { selectedTools, shownOverrides } from '../proxy/tools.ts';
import { auditFailure } from './annotations.ts';
import { originOfEmbeddings, outgoingSource, type Spec, type VirtualServer } from './facts.ts';
import { collectorHeaderVariables, type Needs } from './needs.ts';

/** Writes keys in a fixed order, so that equal servers have equal texts. */
export function vmcpConfig(self: VirtualServer, needs: Needs, view: View): VmcpConfig {
  const { name, namespace, spec } = self;
  const { config } = spec;
  const compositeTools = workflows(spec, view);
  return {
    name,
    groupRef: config.groupRef,
    backends: needs.callable.listed,
    incomingAuth: incomingAuth(spec, needs, view),
    outgoingAuth: { source: outgoingSource(spec), backends: needs.callable.strategies },
    authServer: needs.authServer?.config,
    aggregation: aggregation(spec, view),
    compositeTools: compositeTools.length === 0 ? undefined : compositeTools,
    operational: config.operational,
    metadata: config.metadata,
    passthroughHeaders: spec.passthroughHeaders ?? config.passthroughHeaders,
    ...telemetry(name, spec, needs),
    ...audit(name, spec),
    auditFailure: auditFailure(self),
    ...optimizer(namespace, spec, view),
    ...sessionStorage(spec),
    rateLimiting: config.rateLimiting,
  };
}

function incomingAuth({ incomingAuth }: Spec, { oidc }: Needs, view: View): VmcpConfig['incomingAuth'] {
  const authz = policies(incomingAuth, view);
  if (oidc === undefined) return { type: 'anonymous', authz };
  const { settings, secretEnv } = oidc;
  const { audience, jwks_url, introspection_url, client_id, ca_bundle_path, auth_token_file } = settings;
  return {
    type: 'oidc',
    oidc: {
      issuer: settings.issuer,
      issuerIsApiServer: settings.issuer_is_api_server,
      // A token must name an audience (RFC 8707 section 2): the resource's URL if the settings name none.
      audience: audience ?? settings.resource_url,
      serviceAccount: settings.service_account,
      resource: settings.resource_url,
      scopes: settings.scopes,
      jwksUrl: jwks_url,
      introspectionUrl: introspection_url,
      clientId: client_id,
      clientSecretEnv: secretEnv,
      caBundlePath: ca_bundle_path,
      authTokenFile: auth_token_file,
      jwksAllowPrivateIp: settings.jwks_allow_private_ip,
      protectedResourceAllowPrivateIp: settings.protected_resource_allow_private_ip,
      insecureAllowHttp: settings.insecure_allow_http,
    },
    authz,
  };
}

type Authz = VmcpConfig['incomingAuth']['authz'];

/** Returns the policies, which are always part of this configuration. */
function policies(source: Spec['incomingAuth'], view: View): Authz {
  if (!hasPolicies(source)) return { type: 'none' };
  const rendered = renderedPolicies(source, view);
  if (rendered !== undefined) {
    const { policies, entitiesJson, groups, upstreamProvider: primaryUpstreamProvider } = rendered;
    return {
      type: 'cedar',
      policies: [...policies],
      entitiesJson,
      primaryUpstreamProvider,
      ...groupSettings(groups),
    };
  }
  const { name = '', key = '' } = source.authzConfig?.configMap ?? {};
  const text = configMapText(view.find('ConfigMap', name), key) ?? '';
  const read = readAuthzConfig(readDocuments(text, key)[0]?.value);
  assert('file' in read, 'configurations are created only for resources whose references were inspected');
  const {
    policies,
    entities_json: entitiesJson,
    primary_upstream_provider: primaryUpstreamProvider,
    ...groups
  } = read.file.cedar;
  const settings = groupSettings({ ...groups, ...writtenGroups(source.authzConfig) });
  return { type: 'cedar', policies, entitiesJson, primaryUpstreamProvider, ...settings };
}

function groupSettings(groups: GroupFields) {
  return {
    groupClaimName: groups.group_claim_name,
    roleClaimName: groups.role_claim_name,
    groupEntityType: groups.group_entity_type,
  };
}

/**
 * Returns the aggregation. The MCPToolConfig of a workload replaces its filter and overrides (virtual server document,
 * WorkloadToolConfig).
 */
function aggregation({ config }: Spec, view: View): Aggregation {
  const { tools, ...rest } = config.aggregation;
  if (tools === undefined) return rest;
  return {
    ...rest,
    tools: tools.map(({ workload, toolConfigRef, filter = [], overrides = {}, excludeAll }) => {
      const selected = toolConfigRef === undefined ? { filter, overrides } : selectedTools(toolConfigRef, view);
      const shown = shownOverrides(selected.overrides);
      return {
        workload,
        filter: selected.filter.length === 0 ? undefined : selected.filter.filter((tool) => tool !== ''),
        overrides: shown,
        excludeAll,
      };
    }),
  };
}

function workflows({ config }: Spec, view: View): CompositeToolConfig[] {
  const referenced = (config.compositeToolRefs ?? []).map((ref) => {
    const spec: unknown = view.find('VirtualMCPCompositeToolDefinition', ref.name)?.spec;
    return spec as CompositeToolConfig;
  });
  return [...(config.compositeTools ?? []), ...referenced];
}

function telemetry(name: string, { config }: Spec, needs: Needs): Pick<VmcpConfig, 'telemetry'> {
  if (needs.telemetry !== undefined) return sharedTelemetry(name, needs.telemetry);
  if (config.telemetry === undefined) return {};
  const { endpoint = '', serviceName = '', serviceVersion = '', caCertPath = '', ...rest } = config.telemetry;
  return {
    telemetry: {
      endpoint: endpoint === '' ? undefined : withoutScheme(endpoint),
      serviceName: serviceName === '' ? name : serviceName,
      serviceVersion: serviceVersion || undefined,
      caCertPath: caCertPath || undefined,
      ...rest,
    },
  };
}

function sharedTelemetry(name: string, settings: TelemetrySettings): Pick<VmcpConfig, 'telemetry'> {
  const { openTelemetry, prometheus } = settings;
  const otel = openTelemetry?.enabled === true ? openTelemetry : undefined;
  if (otel === undefined && !prometheus) return {};
  const { endpoint = '', serviceName = '', headers = {}, attributes = {} } = otel ?? {};
  const secrets = collectorHeaderVariables(settings);
  return {
    telemetry: {
      endpoint: endpoint === '' ? undefined : withoutScheme(endpoint),
      serviceName: serviceName === '' ? name : serviceName,
      headers: Object.keys(headers).length === 0 ? undefined : headers,
      headersFromEnv:
        secrets.length === 0 ? undefined : Object.fromEntries(secrets.map(({ header, name }) => [header, name])),
      insecure: otel?.insecure === true || endpoint.startsWith('http://'),
      caCertPath: otel?.bundle?.path,
      metricsEnabled: otel?.metrics?.enabled === true,
      tracingEnabled: otel?.tracing?.enabled === true,
      samplingRate: otel?.tracing?.samplingRate ?? '0.05',
      customAttributes: Object.keys(attributes).length === 0 ? undefined : attributes,
      useLegacyAttributes: otel?.useLegacyAttributes !== false,
      enablePrometheusMetricsPath: prometheus,
    },
  };
}

function withoutScheme(endpoint: string): string {
  return endpoint.replace(/^https?:\/\//, '');
}

function audit(name: string, { config }: Spec): Pick<VmcpConfig, 'audit'> {
  if (config.audit?.enabled !== true) return {};
  const { component = '', logFile = '', ...rest } = config.audit;
  return {
    audit: {
      ...rest,
      enabled: true,
      component: component === '' ? name : component,
      logFile: logFile || undefined,
    },
  };
}

/**
 * Returns the settings of the optimizer. embeddingServerRef turns the optimizer on, and sets the URL (virtual server
 * document, embeddingServerRef).
 */
function optimizer(namespace: string, spec: Spec, view: View): Pick<VmcpConfig, 'optimizer'> {
  const { config, embeddingServerRef } = spec;
  const embeddingService =
    embeddingServerRef === undefined
      ? config.optimizer?.embeddingService
      : originOfEmbeddings(embeddingServerRef.name, namespace, view);
  if (embeddingService === undefined) return {};
  return { optimizer: { ...OPTIMIZER_DEFAULTS, ...config.optimizer, embeddingService } };
}

function sessionStorage({ sessionStorage }: Spec): Pick<VmcpConfig, 'sessionStorage'> {
  if (sessionStorage?.provider !== 'redis' || sessionStorage.address === undefined) return {};
  const { address, db, keyPrefix = '' } = sessionStorage;
  return { sessionStorage: { provider: 'redis', address, db, keyPrefix: keyPrefix || undefined } };
}
