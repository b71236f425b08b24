// What is wrong with a VirtualMCPServer in itself that neither its schema nor CEL can say. Knows nothing about what it
// names: see inspect.ts.

import { parseDuration } from '../../std/duration.ts';
import { pointerToken } from '../../std/json.ts';
import { workflowFindings } from '../../virtual/workflow/check.ts';
import type { Finding } from '../kind.ts';
import { podTemplateFindings } from '../shared/pod-template.ts';
import { inlineAuthzFindings } from '../shared/proxy-authz.ts';
import { toolFindings } from '../shared/tool-override.ts';
import type { Spec, VirtualServer } from './facts.ts';

export function rules({ name, spec }: VirtualServer): readonly Finding[] {
  return [
    ...podTemplateFindings(spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...inlineAuthzFindings(spec.incomingAuth.authzConfig, '/spec/incomingAuth/authzConfig'),
    ...issuerFindings(spec),
    ...upstreamFindings(spec),
    ...toolsFindings(spec),
    ...healthFindings(spec),
    ...workflowsFindings(spec),
    ...ineffective(name, spec),
  ];
}

function workflowsFindings({ config }: Spec): readonly Finding[] {
  return (config.compositeTools ?? []).flatMap((tool, index) =>
    workflowFindings(tool, `/spec/config/compositeTools/${index}`),
  );
}

/** Without `insecureAllowHTTP` the server does not talk to such an issuer (runtime.md 3.3). */
function issuerFindings({ incomingAuth }: Spec): readonly Finding[] {
  const inline = incomingAuth.oidcConfig?.inline;
  if (inline === undefined || inline.insecureAllowHTTP || !inline.issuer.startsWith('http://')) return [];
  const message = 'issuer must be an https URL unless insecureAllowHTTP is true';
  return [
    { code: 'issuer-over-http', severity: 'error', pointer: '/spec/incomingAuth/oidcConfig/inline/issuer', message },
  ];
}

/** Names of providers times backends: more than CEL may look at. */
function upstreamFindings({ config, outgoingAuth, authServerConfig }: Spec): readonly Finding[] {
  const model = outgoingAuth === undefined ? config.outgoingAuth : undefined;
  const pointer = '/spec/config/outgoingAuth';
  const strategies = [
    { at: `${pointer}/default`, strategy: model?.default },
    ...Object.entries(model?.backends ?? {}).map(([backend, strategy]) => {
      return { at: `${pointer}/backends/${pointerToken(backend)}`, strategy };
    }),
  ];
  const providers = authServerConfig?.upstreamProviders.map((provider) => provider.name) ?? [];
  return strategies.flatMap(({ at, strategy }): readonly Finding[] => {
    const wanted = strategy?.upstreamInject?.providerName;
    if (wanted === undefined || providers.includes(wanted)) return [];
    const known = providers.length === 0 ? 'there is none' : `there is ${providers.join(', ')}`;
    const message = `authServerConfig has no upstream provider "${wanted}": ${known}`;
    return [
      { code: 'upstream-provider-unknown', severity: 'error', pointer: `${at}/upstreamInject/providerName`, message },
    ];
  });
}

function toolsFindings({ config }: Spec): readonly Finding[] {
  return (config.aggregation.tools ?? []).flatMap(({ toolConfigRef, filter = [], overrides = {} }, index) => {
    const pointer = `/spec/config/aggregation/tools/${index}`;
    if (toolConfigRef === undefined) {
      return toolFindings({ filter, overrides, filterField: 'filter', overridesPointer: `${pointer}/overrides` });
    }
    return [
      ...(filter.length === 0 ? [] : [beside(`${pointer}/filter`, 'toolConfigRef')]),
      ...(Object.keys(overrides).length === 0 ? [] : [beside(`${pointer}/overrides`, 'toolConfigRef')]),
    ];
  });
}

function healthFindings({ config }: Spec): readonly Finding[] {
  const { healthCheckTimeout, healthCheckInterval } = config.operational.failureHandling;
  if ((parseDuration(healthCheckTimeout) ?? 0) < (parseDuration(healthCheckInterval) ?? 0)) return [];
  const pointer = '/spec/config/operational/failureHandling/healthCheckTimeout';
  const message = `healthCheckTimeout (${healthCheckTimeout}) should be less than healthCheckInterval (${healthCheckInterval}): checks would overtake one another`;
  return [{ code: 'health-check-timeout', severity: 'warning', pointer, message }];
}

/** What is written but does not count, because something else does (document 3, What the service does). */
function ineffective(
  name: string,
  { config, incomingAuth, outgoingAuth, embeddingServerRef }: Spec,
): readonly Finding[] {
  return [
    ...(config.name === undefined || config.name === name ? [] : [beside('/spec/config/name', 'metadata.name')]),
    ...(config.incomingAuth === undefined ? [] : [beside('/spec/config/incomingAuth', 'spec.incomingAuth')]),
    ...(config.outgoingAuth === undefined || outgoingAuth === undefined
      ? []
      : [beside('/spec/config/outgoingAuth', 'spec.outgoingAuth')]),
    ...(config.optimizer?.embeddingService === undefined || embeddingServerRef === undefined
      ? []
      : [beside('/spec/config/optimizer/embeddingService', 'spec.embeddingServerRef')]),
    ...(incomingAuth.oidcConfig === undefined || incomingAuth.type === 'oidc'
      ? []
      : [beside('/spec/incomingAuth/oidcConfig', 'spec.incomingAuth.type anonymous')]),
  ];
}

function beside(pointer: string, winner: string): Finding {
  const field = pointer.slice(pointer.lastIndexOf('/') + 1);
  const message = `${field} has no effect: ${winner} counts instead`;
  return { code: 'field-without-effect', severity: 'warning', pointer, message };
}
