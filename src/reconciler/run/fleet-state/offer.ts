// Computes what a server offers to whom, out of Git: its tools by tools locks and settings, how callers authenticate,
// and the policies that decide about calls.

import { AUTHZ_FILE, readAuthzConfig } from '#contracts/authz-config.ts';
import { TOOL_LOCK } from '#contracts/tool-lock/schema.ts';
import { aggregatedTools } from '#contracts/virtual-model/aggregate.ts';
import { ANY_TOOL, shownTools, type Tool } from '#contracts/virtual-model/tools.ts';
import { readVmcpConfig, VMCP_CONFIG_FILE } from '#contracts/vmcp-config.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '#std/json.ts';
import type { Endpoint, OfferedMember, Resource, View } from '../../kinds/kind.ts';
import type { Desired } from '../desire/desire.ts';
import type { Sourced } from '../read/sourced.ts';
import type { OfferedTool, ShownOffer } from './offer-format.ts';

export interface OfferInput {
  readonly loaded: Sourced;
  /** Objects of the resource. */
  readonly desired: readonly Desired[];
  readonly view: View;
  /** Finds a declared resource of the same namespace. */
  readonly declared: (kind: string, name: string) => Sourced | undefined;
}

/** Maximum number of tools that are shown. */
const TOOLS_MAX = 500;

/** Returns undefined for resources that serve no clients, and for encrypted ones, whose values are not shown. */
export function offerOf(input: OfferInput): ShownOffer | undefined {
  const { kind, defaulted, sealed } = input.loaded;
  if (sealed === true) return undefined;
  const [endpoint] = kind === undefined || defaulted === undefined ? [] : kind.exposes(defaulted, input.view);
  if (endpoint === undefined || defaulted === undefined) return undefined;
  const { url, transport, auth, offer } = endpoint;
  const { tools, clashes } = toolsOf(input, defaulted, endpoint);
  return {
    ...{ url, transport, access: auth, clashes },
    tools: tools
      .filter(({ any }) => !any)
      .slice(0, TOOLS_MAX)
      .map(offeredTool),
    unlisted: tools.flatMap(({ any, member = '' }) => (any ? [member] : [])),
    optimizer: offer.type === 'members' && offer.optimizer,
    ...policiesOf(input),
  };
}

function offeredTool({ name, member, origin }: Tool): OfferedTool {
  const own = origin.split('/').at(-1) ?? origin;
  return { name, ...(member ? { member } : {}), ...(own === name || member === undefined ? {} : { own }) };
}

function toolsOf(input: OfferInput, resource: Resource, { offer }: Endpoint) {
  if (offer.type === 'server') {
    return { tools: shownTools(lockedTools(resource, input.view), offer.shown), clashes: [] };
  }
  const members = offer.members.map((member) => {
    const { workload, shown, hidden } = member;
    return { workload, ...shown, hidden, tools: memberTools(input, member) };
  });
  const { tools, clashes } = aggregatedTools(members, offer.resolution);
  return { tools: [...tools, ...offer.workflows.map((name): Tool => ({ origin: name, name }))], clashes };
}

/** Returns the tools of a member as all clients of the member see them. */
function memberTools({ view, declared }: OfferInput, { workload, kind }: OfferedMember): readonly Tool[] {
  const { kind: memberKind, defaulted } = (kind === undefined ? undefined : declared(kind, workload)) ?? {};
  if (memberKind === undefined || defaulted === undefined) return [ANY_TOOL];
  const tools = lockedTools(defaulted, view);
  const [endpoint] = memberKind.exposes(defaulted, view);
  return endpoint?.offer.type === 'server' ? shownTools(tools, endpoint.offer.shown) : tools;
}

/** Returns the tools in the tools lock of a server, under the names that the server uses. */
function lockedTools(resource: Resource, view: View): readonly Tool[] {
  const spec = view.find(TOOL_LOCK.kind, resource.metadata.name)?.spec;
  const { server, tools } = isObject(spec) ? spec : {};
  if (!isObject(server) || server.kind !== resource.kind) return [ANY_TOOL];
  return objectsIn(tools).map(({ name }) => ({ origin: String(name), name: String(name), member: '' }));
}

function policiesOf(input: OfferInput): Pick<ShownOffer, 'policies' | 'policiesUnread'> {
  const { desired, view } = input;
  const encrypted = encryptedReference(input);
  if (encrypted !== undefined) return { policiesUnread: `${encrypted} is encrypted in Git` };
  const objects = desired.map(({ object }) => object);
  const config = objects.map((object) => configMapText(object, VMCP_CONFIG_FILE)).find((text) => text !== undefined);
  if (config !== undefined) return virtualPolicies(config);
  const name = objects.flatMap(policyVolumes)[0];
  if (name === undefined) return {};
  const own = objects.find((object) => isConfigMap(object, name));
  const text = policyText(own ?? view.find('ConfigMap', name));
  if (text === undefined) return { policiesUnread: `ConfigMap ${name} is not in Git` };
  const read = readAuthzConfig(parseJson(text));
  return 'fault' in read
    ? { policiesUnread: `ConfigMap ${name}: ${read.fault}` }
    : { policies: read.file.cedar.policies };
}

/** Returns the name of an encrypted object that may hold the policies, or hold some of them. */
function encryptedReference({ loaded: { kind, defaulted }, declared }: OfferInput): string | undefined {
  const references = kind === undefined || defaulted === undefined ? [] : kind.references(defaulted);
  return references
    .filter(({ kind: target }) => target === 'ConfigMap' || target === 'MCPAuthzConfig')
    .flatMap(({ kind: target, name }) => (declared(target, name)?.sealed === true ? [`${target} ${name}`] : []))[0];
}

function virtualPolicies(text: string): Pick<ShownOffer, 'policies' | 'policiesUnread'> {
  const read = readVmcpConfig(text);
  if ('fault' in read) return { policiesUnread: read.fault };
  const { authz } = read.config.incomingAuth;
  return authz.type === 'cedar' ? { policies: authz.policies } : {};
}

function isConfigMap(object: KubeObject, name: string): boolean {
  const id = idOf(object);
  return id.kind === 'ConfigMap' && id.name === name;
}

/** Returns the names of the ConfigMaps with policies that a workload mounts. */
function policyVolumes({ spec }: KubeObject): readonly string[] {
  const { template } = isObject(spec) ? spec : {};
  const { spec: pod } = isObject(template) ? template : {};
  const volumes = objectsIn((isObject(pod) ? pod : {}).volumes);
  return volumes.flatMap(({ name, configMap }) =>
    name === 'authz-config' && isObject(configMap) ? [String(configMap.name)] : [],
  );
}

/** Returns the text of the file with policies, under whatever key an author has put it. */
function policyText(object: KubeObject | undefined): string | undefined {
  const text = configMapText(object, AUTHZ_FILE);
  if (text !== undefined) return text;
  const data: JsonObject = isObject(object?.data) ? object.data : {};
  const [only, ...more] = Object.values(data).filter((value) => typeof value === 'string');
  return more.length === 0 ? only : undefined;
}
