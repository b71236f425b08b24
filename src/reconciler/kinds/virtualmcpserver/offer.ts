// Computes the tools that a VirtualMCPServer offers: the tools of its members after aggregation, and its workflows.

import type { Offer, OfferedMember, View } from '../kind.ts';
import { shownBy } from '../proxy/endpoint.ts';
import { backendsOf } from './backends.ts';
import type { Spec } from './facts.ts';

export function offerOf(spec: Spec, view: View): Offer {
  const { aggregation, compositeTools = [], compositeToolRefs = [], optimizer } = spec.config;
  const { conflictResolution: strategy, conflictResolutionConfig } = aggregation;
  const { prefixFormat, priorityOrder = [] } = conflictResolutionConfig;
  return {
    type: 'members',
    members: backendsOf(spec, view).map(({ name, url, member }) =>
      // Describes an entry like a listed backend, because its server runs outside the cluster.
      memberOf(spec, view, { name, url, kind: member?.kind === 'MCPServerEntry' ? undefined : member?.kind }),
    ),
    resolution: { strategy, prefixFormat, priorityOrder },
    workflows: [
      ...compositeTools.map(({ name }) => name),
      ...compositeToolRefs.map(({ name }) => workflowName(name, view)),
    ].sort(),
    optimizer: spec.embeddingServerRef !== undefined || optimizer?.embeddingService !== undefined,
  };
}

interface OfferMember {
  readonly name: string;
  readonly url: string;
  readonly kind: string | undefined;
}

function memberOf({ config }: Spec, view: View, { name, url, kind }: OfferMember): OfferedMember {
  const { tools = [], excludeAllTools, defaultToolVisibility } = config.aggregation;
  const listed = tools.find(({ workload }) => workload === name);
  const { toolConfigRef, filter = [], overrides = {} } = listed ?? {};
  const isHidden = listed?.excludeAll ?? defaultToolVisibility === 'deny';
  return {
    workload: name,
    url,
    kind,
    shown: shownBy(toolConfigRef, { filter, overrides }, view),
    hidden: isHidden || excludeAllTools,
  };
}

/** Returns the name of the workflow's tool, which may differ from the name of the resource. */
function workflowName(name: string, view: View): string {
  const spec: unknown = view.find('VirtualMCPCompositeToolDefinition', name)?.spec;
  const own = typeof spec === 'object' && spec !== null && 'name' in spec ? spec.name : undefined;
  return typeof own === 'string' ? own : name;
}
