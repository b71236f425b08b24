// Finds endpoints that appear, disappear, or change for clients: URL, transport, authentication, tools.

import type { Tool } from '#contracts/virtual-model/tools.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { EndpointAuth } from '../../kinds/kind.ts';
import type { FleetState, OpenEndpoint } from './fleet.ts';

export interface Both<T> {
  readonly before: T;
  readonly after: T;
}

export interface EndpointImpact {
  readonly resource: ResourceId;
  readonly action: 'appears' | 'disappears' | 'changes';
  /** New URL. If the endpoint disappears, the old URL. */
  readonly url: string;
  readonly moved?: Both<string>;
  readonly transport?: Both<string>;
  readonly auth?: AuthImpact;
  /**
   * `on`: after the change, clients see only `find_tool` and `call_tool`. `off`: after the change, clients see all
   * tools.
   */
  readonly optimizer?: 'on' | 'off';
  readonly tools: ToolsImpact;
}

export interface AuthImpact extends Both<EndpointAuth> {
  /** True if, after the change, the endpoint refuses tokens or anonymous requests that it accepts today. */
  readonly refusesToday: boolean;
}

/** Tool names as clients see them. `*` stands for all tools of a server if no registry lists its tools. */
export interface ToolsImpact {
  readonly appear: readonly string[];
  readonly disappear: readonly string[];
  readonly renamed: readonly Both<string>[];
  /** Names of tools that several members have after the change. Clients cannot distinguish these tools. */
  readonly clashes: readonly string[];
  /** True if no registry lists the tools of a changed server. Its tools may then appear or disappear unnoticed. */
  readonly uncertain: boolean;
}

export function endpointImpacts({ before, after }: Both<FleetState>): readonly EndpointImpact[] {
  const keys = new Set([...before.endpoints.keys(), ...after.endpoints.keys()]);
  const impacts = [...keys].flatMap((key) => impactOn(before.endpoints.get(key), after.endpoints.get(key)));
  return impacts.toSorted((a, b) => (formatId(a.resource) < formatId(b.resource) ? -1 : 1));
}

function impactOn(before: OpenEndpoint | undefined, after: OpenEndpoint | undefined): readonly EndpointImpact[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return after === undefined ? [] : [whole('appears', after)];
  if (after === undefined) return [whole('disappears', before)];
  const auth = authImpact(before.auth, after.auth);
  const impact: EndpointImpact = {
    resource: after.id,
    action: 'changes',
    url: after.url,
    moved: before.url === after.url ? undefined : { before: before.url, after: after.url },
    transport: before.transport === after.transport ? undefined : { before: before.transport, after: after.transport },
    auth,
    ...optimizerImpact(before, after),
    tools: toolsImpact(before, after),
  };
  return isNoticed(impact) ? [impact] : [];
}

function whole(action: 'appears' | 'disappears', { id, url, aggregated }: OpenEndpoint): EndpointImpact {
  const names = toolNames(aggregated.tools);
  const none: ToolsImpact = { appear: [], disappear: [], renamed: [], clashes: [], uncertain: false };
  const tools =
    action === 'appears' ? { ...none, appear: names, clashes: aggregated.clashes } : { ...none, disappear: names };
  return { resource: id, action, url, tools };
}

function isNoticed({ moved, transport, auth, optimizer, tools }: EndpointImpact): boolean {
  const { appear, disappear, renamed, clashes, uncertain } = tools;
  if (moved !== undefined || transport !== undefined || auth !== undefined || optimizer !== undefined) return true;
  return uncertain || [appear, disappear, renamed, clashes].some(({ length }) => length > 0);
}

function authImpact(before: EndpointAuth, after: EndpointAuth): AuthImpact | undefined {
  if (sameAuth(before, after)) return undefined;
  return { before, after, refusesToday: after.type === 'oidc' && !acceptsAllOf(before, after) };
}

function acceptsAllOf(before: EndpointAuth, after: OIDCAuth): boolean {
  if (before.type !== 'oidc' || before.issuer !== after.issuer) return false;
  const { audience = before.audience, account = before.account } = after;
  return audience === before.audience && account === before.account;
}

type OIDCAuth = Extract<EndpointAuth, { readonly type: 'oidc' }>;

function sameAuth(a: EndpointAuth, b: EndpointAuth): boolean {
  if (a.type !== 'oidc' || b.type !== 'oidc') return a.type === b.type;
  return a.issuer === b.issuer && a.audience === b.audience && a.account === b.account;
}

function optimizerImpact(before: OpenEndpoint, after: OpenEndpoint): Pick<EndpointImpact, 'optimizer'> {
  const [was, is] = [before, after].map(({ offer }) => offer.type === 'members' && offer.optimizer);
  return was === is ? {} : { optimizer: is === true ? 'on' : 'off' };
}

function toolsImpact(
  { aggregated: was, offer: offered }: OpenEndpoint,
  { aggregated: is, offer }: OpenEndpoint,
): ToolsImpact {
  const [before, after] = [byOrigin(was.tools), byOrigin(is.tools)];
  const gone = was.tools.filter((tool) => !after.has(tool.origin));
  const come = is.tools.filter((tool) => !before.has(tool.origin));
  const renamed = is.tools.flatMap((tool) => {
    const earlier = before.get(tool.origin);
    return earlier === undefined || earlier.name === tool.name ? [] : [{ before: earlier.name, after: tool.name }];
  });
  // An unknown list of tools cannot be compared with a known list.
  const unknown = new Set([...unknownMembers(gone, is.tools), ...unknownMembers(come, was.tools)]);
  const certain = (tools: readonly Tool[]) =>
    toolNames(tools.filter(({ member }) => member === undefined || !unknown.has(member)));
  const [goneNames, comeNames] = [certain(gone), certain(come)];
  const changedServer = serverOf(offered) !== serverOf(offer);
  return {
    // If a removed tool and an added tool have the same name, clients see no difference.
    appear: without(comeNames, goneNames),
    disappear: without(goneNames, comeNames),
    renamed,
    clashes: without(is.clashes, was.clashes),
    uncertain: unknown.size > 0 || (changedServer && [was, is].every(({ tools }) => tools.some(({ any }) => any))),
  };
}

/**
 * Returns members that are in `tools` and in `others`, and whose list in `tools` is unknown. A member that is only in
 * `tools` joins or leaves as a whole, so its list need not be compared.
 */
function unknownMembers(tools: readonly Tool[], others: readonly Tool[]): readonly string[] {
  const there = new Set(others.map(({ member }) => member));
  return tools.flatMap(({ any, member }) => (any && member !== undefined && there.has(member) ? [member] : []));
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return names.filter((name) => !known.has(name));
}

function serverOf(offer: OpenEndpoint['offer']): string | undefined {
  if (offer.type !== 'server') return undefined;
  return 'image' in offer.server ? offer.server.image : offer.server.url;
}

function byOrigin(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(tools.map((tool) => [tool.origin, tool]));
}

function toolNames(tools: readonly Tool[]): readonly string[] {
  return tools.map(({ name }) => name).sort();
}
