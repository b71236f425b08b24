// Finds mistakes in a VirtualMCPServer that neither its schema nor CEL can express.

import { ownMetricsPort } from '#contracts/virtual/observability.ts';
import { isEmbeddingHeader } from '#contracts/virtual/optimizer.ts';
import { passthroughFault } from '#contracts/virtual/passthrough-headers.ts';
import { conflictName } from '#contracts/virtual-model/aggregate.ts';
import { fitName, NAME_MAX } from '#contracts/virtual-model/short-names.ts';
import { workflowFindings } from '#contracts/virtual-model/workflow/check.ts';
import { parseDuration } from '#std/duration.ts';
import { pointerToken } from '#std/json.ts';
import { inlineAuthzFindings } from '../auth/authz-findings.ts';
import { plainHttpFindings } from '../auth/external-auth-checks.ts';
import { addedHeaderFindings, headerNameFindings } from '../auth/header-findings.ts';
import { oidcFindings } from '../auth/oidc-findings.ts';
import { mappingFindings } from '../auth/role-mapping-findings.ts';
import { isIdleProvider } from '../auth/server/primary.ts';
import { idTokenFault, providerFault } from '../auth/server/providers.ts';
import { authServerFindings } from '../auth/server/rules.ts';
import type { Finding } from '../kind.ts';
import { listingFindings } from '../listing.ts';
import { podTemplateFindings } from '../pods/pod-template.ts';
import { storeFindings } from '../proxy/session-idle.ts';
import { toolFindings } from '../proxy/tool-override.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { virtualAnnotationFindings } from './annotations.ts';
import { PORT, type Spec, type VirtualServer } from './facts.ts';

export function rules(self: VirtualServer): readonly Finding[] {
  const { name, spec } = self;
  return [
    ...virtualAnnotationFindings(self),
    ...listingFindings(self.resource),
    ...podTemplateFindings(spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...inlineAuthzFindings(spec.incomingAuth.authzConfig, '/spec/incomingAuth/authzConfig'),
    ...oidcFindings(spec.incomingAuth.oidcConfig, '/spec/incomingAuth/oidcConfig'),
    ...(spec.authServerConfig === undefined ? [] : authServerFindings(spec.authServerConfig, '/spec/authServerConfig')),
    ...modelFindings(spec),
    ...toolsFindings(spec),
    ...longNames(spec),
    ...healthFindings(spec),
    ...metricsPortFindings(self),
    ...idleMetricsFindings(spec),
    ...workflowsFindings(spec),
    ...passthroughFindings(spec),
    ...embeddingHeaderFindings(spec),
    ...ineffective(name, spec),
    ...storeFindings(spec.sessionStorage),
  ];
}

function workflowsFindings({ config }: Spec): readonly Finding[] {
  return (config.compositeTools ?? []).flatMap((tool, index) =>
    workflowFindings(tool, `/spec/config/compositeTools/${index}`),
  );
}

/** Checks strategies in the configuration model. They are not used if `spec.outgoingAuth` is set. */
function modelFindings({ config, outgoingAuth, authServerConfig }: Spec): readonly Finding[] {
  if (outgoingAuth !== undefined || config.outgoingAuth === undefined) return [];
  const pointer = '/spec/config/outgoingAuth';
  const { default: fallback, backends = {} } = config.outgoingAuth;
  const strategies = [
    ...(fallback === undefined ? [] : [{ at: `${pointer}/default`, strategy: fallback }]),
    ...Object.entries(backends).map(([backend, strategy]) => {
      return { at: `${pointer}/backends/${pointerToken(backend)}`, strategy };
    }),
  ];
  return strategies.flatMap(({ at, strategy: { tokenExchange, awsSts, upstreamInject, xaa } }) => [
    ...(xaa === undefined ? [] : accessFindings(xaa, authServerConfig, `${at}/xaa`)),
    ...(tokenExchange === undefined ? [] : plainHttpFindings(tokenExchange.tokenUrl, `${at}/tokenExchange/tokenUrl`)),
    ...providerFindings(upstreamInject?.providerName, authServerConfig, `${at}/upstreamInject/providerName`),
    ...providerFindings(
      tokenExchange?.subjectProviderName,
      authServerConfig,
      `${at}/tokenExchange/subjectProviderName`,
    ),
    ...mappingFindings(awsSts?.roleMappings, `${at}/awsSts/roleMappings`),
    ...providerFindings(awsSts?.subjectProviderName, authServerConfig, `${at}/awsSts/subjectProviderName`),
  ]);
}

function accessFindings(
  { targetTokenUrl, subjectProviderName }: { readonly targetTokenUrl: string; readonly subjectProviderName?: string },
  server: Spec['authServerConfig'],
  pointer: string,
): readonly Finding[] {
  const fault = idTokenFault(subjectProviderName, server);
  const message = `authServerConfig ${fault}`;
  return [
    ...plainHttpFindings(targetTokenUrl, `${pointer}/targetTokenUrl`),
    ...(fault === undefined
      ? []
      : [{ code: 'upstream-provider-unknown', severity: 'error', pointer, message } as const]),
  ];
}

/**
 * Finds unknown upstream providers of backends. CEL cannot check this, because the rule would exceed its cost limit.
 */
function providerFindings(
  provider: string | undefined,
  server: Spec['authServerConfig'],
  pointer: string,
): readonly Finding[] {
  const fault = provider === undefined ? undefined : providerFault(provider, server);
  if (fault === undefined) return [];
  const message = `authServerConfig ${fault}`;
  return [{ code: 'upstream-provider-unknown', severity: 'error', pointer, message }];
}

function toolsFindings({ config }: Spec): readonly Finding[] {
  return (config.aggregation.tools ?? []).flatMap(({ toolConfigRef, filter = [], overrides = {} }, index) => {
    const pointer = `/spec/config/aggregation/tools/${index}`;
    if (toolConfigRef === undefined) {
      return toolFindings({ filter, overrides, filterField: 'filter', overridesPointer: `${pointer}/overrides` });
    }
    return [
      ...(filter.length === 0 ? [] : [fieldWithoutEffect(`${pointer}/filter`, 'toolConfigRef counts instead')]),
      ...(Object.keys(overrides).length === 0
        ? []
        : [fieldWithoutEffect(`${pointer}/overrides`, 'toolConfigRef counts instead')]),
    ];
  });
}

/** Warns of tool names in the manifest that have more than NAME_MAX characters: clients see them shortened. */
function longNames({ config }: Spec): readonly Finding[] {
  const { conflictResolution: strategy, conflictResolutionConfig, tools = [] } = config.aggregation;
  const { prefixFormat } = conflictResolutionConfig;
  return tools.flatMap(({ workload, toolConfigRef, filter = [], overrides = {} }, index) => {
    if (toolConfigRef !== undefined) return [];
    const pointer = `/spec/config/aggregation/tools/${index}`;
    const given = Object.entries(overrides).map(([own, { name = '' }]) => {
      return { name, at: `${pointer}/overrides/${pointerToken(own)}/name` };
    });
    const known = new Set(given.map(({ name }) => name));
    const named = [
      ...filter
        .map((name, position) => ({ name, at: `${pointer}/filter/${position}` }))
        .filter(({ name }) => !known.has(name)),
      ...given,
    ];
    return named.flatMap(({ name, at }): readonly Finding[] => {
      const shown = conflictName(workload, name, { strategy, prefixFormat });
      if (shown.length <= NAME_MAX) return [];
      const message = `clients see ${fitName(shown)}: ${shown} has ${shown.length} characters, more than ${NAME_MAX}`;
      return [{ code: 'tool-name-long', severity: 'warning', pointer: at, message }];
    });
  });
}

function healthFindings({ config }: Spec): readonly Finding[] {
  const { healthCheckTimeout, healthCheckInterval } = config.operational.failureHandling;
  if ((parseDuration(healthCheckTimeout) ?? 0) < (parseDuration(healthCheckInterval) ?? 0)) return [];
  const pointer = '/spec/config/operational/failureHandling/healthCheckTimeout';
  const message = `healthCheckTimeout (${healthCheckTimeout}) should be less than healthCheckInterval (${healthCheckInterval}): checks would overlap`;
  return [{ code: 'health-check-timeout', severity: 'warning', pointer, message }];
}

function embeddingHeaderFindings({ config }: Spec): readonly Finding[] {
  const all = Object.entries(config.optimizer?.embeddingHeaders ?? {});
  const pointer = '/spec/config/optimizer/embeddingHeaders';
  const headers = Object.fromEntries(all.filter(([name]) => !isEmbeddingHeader(name)));
  const added = { plain: { headers, pointer }, secret: { names: [], pointerOf: () => pointer } };
  return [
    ...addedHeaderFindings(added, ['embeddingHeaders', 'OPENAI_API_KEY']),
    ...all
      .filter(([name]) => isEmbeddingHeader(name))
      .map(([name]): Finding => {
        const message = `the server itself sets ${name}: OPENAI_API_KEY contains the key`;
        return { code: 'header-restricted', severity: 'error', pointer: `${pointer}/${name}`, message, at: 'key' };
      }),
  ];
}

function passthroughFindings({ config, passthroughHeaders }: Spec): readonly Finding[] {
  const named = [
    { names: passthroughHeaders ?? [], pointer: '/spec/passthroughHeaders' },
    { names: config.passthroughHeaders ?? [], pointer: '/spec/config/passthroughHeaders' },
  ];
  return named.flatMap(({ names, pointer }) =>
    names.flatMap((name, index) => {
      const at = `${pointer}/${index}`;
      const fault = passthroughFault(name);
      if (fault === undefined) return headerNameFindings(name, at);
      const message = `${name} must not be named: ${fault}`;
      return [{ code: 'header-restricted', severity: 'error' as const, pointer: at, message }];
    }),
  );
}

/** Finds a metrics port that is used twice: the server exits if it cannot listen on all of its ports. */
function metricsPortFindings(self: VirtualServer): readonly Finding[] {
  const { telemetry } = self.spec.config;
  const port = telemetry && ownMetricsPort(telemetry);
  if (port !== PORT) return [];
  const pointer = `/spec/config/telemetry${telemetry?.prometheusPort === undefined ? '' : '/prometheusPort'}`;
  const message = `metrics cannot have port ${port}, which is the port of MCP clients: set another prometheusPort`;
  return [{ code: 'metrics-port-taken', severity: 'error', pointer, message }];
}

function idleMetricsFindings({ config: { telemetry } }: Spec): readonly Finding[] {
  if (telemetry === undefined || telemetry.enablePrometheusMetricsPath) return [];
  return (['prometheusPort', 'metricsOnTransportPort'] as const)
    .filter((field) => telemetry[field] !== undefined)
    .map((field) => fieldWithoutEffect(`/spec/config/telemetry/${field}`, 'enablePrometheusMetricsPath is not true'));
}

/** Finds fields that have no effect because another field takes precedence. */
function ineffective(
  name: string,
  { config, incomingAuth, outgoingAuth, embeddingServerRef, passthroughHeaders, authServerConfig }: Spec,
): readonly Finding[] {
  return [
    ...(authServerConfig?.disableUpstreamTokenInjection === undefined
      ? []
      : [
          fieldWithoutEffect(
            '/spec/authServerConfig/disableUpstreamTokenInjection',
            'each backend has authentication of its own',
          ),
        ]),
    ...(isIdleProvider(incomingAuth, authServerConfig)
      ? [fieldWithoutEffect('/spec/authServerConfig/primaryUpstreamProvider', 'there are no policies')]
      : []),
    ...(config.passthroughHeaders === undefined || passthroughHeaders === undefined
      ? []
      : [fieldWithoutEffect('/spec/config/passthroughHeaders', 'spec.passthroughHeaders counts instead')]),
    ...([undefined, '', name].includes(config.name)
      ? []
      : [fieldWithoutEffect('/spec/config/name', 'metadata.name counts instead')]),
    ...(config.incomingAuth === undefined
      ? []
      : [fieldWithoutEffect('/spec/config/incomingAuth', 'spec.incomingAuth counts instead')]),
    ...(config.outgoingAuth === undefined || outgoingAuth === undefined
      ? []
      : [fieldWithoutEffect('/spec/config/outgoingAuth', 'spec.outgoingAuth counts instead')]),
    ...(config.optimizer?.embeddingService === undefined || embeddingServerRef === undefined
      ? []
      : [fieldWithoutEffect('/spec/config/optimizer/embeddingService', 'spec.embeddingServerRef counts instead')]),
    ...(['oidcConfig', 'oidcConfigRef'] as const).flatMap((field) =>
      incomingAuth[field] === undefined || incomingAuth.type === 'oidc'
        ? []
        : [fieldWithoutEffect(`/spec/incomingAuth/${field}`, 'spec.incomingAuth.type anonymous counts instead')],
    ),
  ];
}
