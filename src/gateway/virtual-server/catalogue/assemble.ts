// Assembles the offer of a virtual server from the members' offers: lists for clients, and targets of names.

import {
  type ConflictResolution,
  conflictName,
  type RoutedTool,
  routeTools,
} from '#contracts/virtual-model/aggregate.ts';
import { fitName } from '#contracts/virtual-model/short-names.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { changeMembers } from '../../backends/bridge/edit.ts';
import { objectOf } from '../../backends/bridge/messages.ts';
import { paramHeadersOf } from '../../backends/bridge/param-headers.ts';
import { jsonString, patchBytes, patchedParts } from '../../wire/patch.ts';
import { OPTIMIZER_TOOLS } from '../optimizer/definitions.ts';
import type { SearchedList } from '../optimizer/tool-index.ts';
import type { MemberRoute, OwnTools, ToolRoute } from '../own-tools/ports.ts';
import { type Apps, appToolNames, findApps, readMemberAppUri } from './apps.ts';
import { offeredCapabilities } from './capabilities.ts';
import { LIST_NAMES, type ListName } from './list-names.ts';
import { createPages, type ListedItem, type ListPages } from './pages.ts';
import type { AggregationRules, OfferingMember } from './rules.ts';
import { skillFolders, skillMember } from './skills.ts';
import { createToolRoutes, memberTools, withOwnTools } from './tool-routes.ts';
import { matchTemplate } from './uri-template.ts';

export interface Offer {
  readonly capabilities: JsonObject;
  readonly tools: ReadonlyMap<string, ToolRoute>;
  /** Finds a member's tool by a name in `tools`, or by `workload.tool`. */
  find(name: string): ToolRoute | undefined;
  readonly prompts: ReadonlyMap<string, MemberRoute>;
  /** Returns the member that has a resource, and the member's URI of the resource. */
  findResource(uri: string): MemberRoute | undefined;
  /** Returns the clients' name of the tool that a user interface calls. Returns undefined if `own` is ambiguous. */
  appTool(own: string): string | undefined;
  readonly lists: Readonly<Record<ListName, ListPages>>;
  /** Tool list for clients without user interfaces. Tools that only user interfaces may call are left out. */
  readonly modelTools: ListPages;
  /** Tools that clients find by searching. Absent if clients list all tools. */
  readonly searched?: SearchedList;
  /** Names that tools of several members share. `outdone`: the tools that such a name does not reach. */
  readonly clashes: readonly string[];
  readonly outdone: readonly RoutedTool[];
  /** Prompts, resources and templates that are left out because another member's item has the same name. */
  readonly outdoneOthers: readonly OutdoneItem[];
}

interface OutdoneItem extends MemberRoute {
  readonly list: Exclude<ListName, 'tools'>;
  /** Name under which clients get another member's item. */
  readonly name: string;
}

export function assembleOffer(
  members: readonly OfferingMember[],
  rules: AggregationRules,
  own?: Pick<OwnTools, 'offer'>,
  optimized = false,
): Offer {
  const routes = routeTools(
    members.map((member) => memberTools(member, rules)),
    rules.resolution,
  );
  const apps = findApps(members);
  const toolRoutes = createToolRoutes(members, rules, routes, apps);
  const tools = withOwnTools(toolRoutes, own);
  const outdoneOthers: OutdoneItem[] = [];
  const prompts = promptsOf(members, rules.resolution, outdoneOthers);
  const resources = firstWithUri(members, 'resources', apps, outdoneOthers);
  const templates = firstWithUri(members, 'resourceTemplates', apps, outdoneOthers);
  const skills = firstWithUri(members, 'skills', apps, outdoneOthers);
  const { shown, ...ofTools } = toolLists(tools, apps, optimized);
  return {
    capabilities: offeredCapabilities(
      members.map(({ lists }) => lists.capabilities),
      { apps: apps.any, sessionTasks: [...tools.values()].some(({ makesTasks }) => makesTasks) },
    ),
    tools,
    find: toolRoutes.find,
    prompts: new Map([...prompts].map(([name, { member, own }]) => [name, { member, own }])),
    findResource: resourceFinder(members, apps, resources, { templates, skills }),
    ...ofTools,
    lists: {
      tools: shown,
      prompts: createPages(
        'prompts',
        [...prompts].map(([key, { bytes }]) => sameForAll(key, bytes)),
      ),
      resources: createPages('resources', plainItems(resources)),
      resourceTemplates: createPages('resourceTemplates', plainItems(templates)),
      skills: createPages('skills', plainItems(skills)),
    },
    clashes: routes.clashes,
    outdone: routes.outdone,
    outdoneOthers,
  };
}

type ToolLists = Pick<Offer, 'modelTools' | 'appTool' | 'searched'> & { readonly shown: ListPages };

/**
 * Builds the tool lists. The search omits tools for user interfaces: clients show user interfaces of listed tools only.
 */
function toolLists(tools: ReadonlyMap<string, ToolRoute>, apps: Apps, optimized: boolean): ToolLists {
  const all = toolItems(tools);
  const forModel = all.filter(({ key }) => isForModel(tools.get(key), apps));
  const advertised = createPages('tools', all);
  const modelTools = forModel.length === all.length ? advertised : createPages('tools', forModel);
  if (optimized) {
    const shown = createPages('tools', OPTIMIZER_TOOLS);
    return { shown, modelTools: shown, searched: modelTools, appTool: () => undefined };
  }
  const appTools = appToolNames(tools.values(), apps);
  return { shown: advertised, modelTools, appTool: (own) => appTools.get(own) };
}

function isForModel(route: ToolRoute | undefined, apps: Apps): boolean {
  return route === undefined || apps.marksOf(route.member, route.own).forModel;
}

/** Returns all tools that a client or a workflow can name, including hidden tools. */
export function knownTools({
  tools,
  lists,
  outdone,
  find,
}: Offer): readonly { readonly name: string; readonly definition: Buffer }[] {
  const shown = lists.tools.items.map(({ key, stateless }) => ({ name: key, definition: stateless }));
  // Workflows use the name `workload.tool` for a tool whose own name belongs to another tool.
  const dotted = outdone.flatMap(({ member, own }) => find(`${member}.${own}`) ?? []);
  return [...tools.values(), ...dotted, ...shown];
}

export function changedLists(before: Offer, after: Offer): readonly ListName[] {
  return LIST_NAMES.filter((name) => before.lists[name].digest !== after.lists[name].digest);
}

function toolItems(tools: ReadonlyMap<string, ToolRoute>): readonly ListedItem[] {
  return [...tools].flatMap(([key, { advertised, definition }]) =>
    advertised ? [{ key, stateless: definition, session: toolForSessions(definition) }] : [],
  );
}

/** Converts a tool for clients with sessions. Returns undefined if its `x-mcp-header` annotations are invalid. */
function toolForSessions(bytes: Buffer): Buffer | undefined {
  const annotated = bytes.includes('"x-mcp-header"');
  if (!annotated && !bytes.includes('"outputSchema"')) return bytes;
  const { inputSchema, outputSchema } = objectOf(bytes, { start: 0, end: bytes.length });
  if (annotated && !paramHeadersOf(inputSchema).ok) return undefined;
  // Up to MCP 2025-11-25, clients refuse the whole list if an `outputSchema` does not describe an object.
  if (outputSchema === undefined || (isObject(outputSchema) && outputSchema.type === 'object')) return bytes;
  return patchBytes(bytes, changeMembers(bytes, 0, (key) => key === 'outputSchema') ?? []);
}

function sameForAll(key: string, bytes: Buffer): ListedItem {
  return { key, stateless: bytes, session: bytes };
}

interface ItemOfMember extends MemberRoute {
  readonly bytes: Buffer;
}

/** Returns prompts by name. The first member in the order of the strategy gets a shared name. */
function promptsOf(
  members: readonly OfferingMember[],
  resolution: ConflictResolution,
  outdone: OutdoneItem[],
): ReadonlyMap<string, ItemOfMember> {
  const prompts = new Map<string, ItemOfMember>();
  for (const { name: member, lists } of ordered(members, resolution)) {
    for (const { key: own, page, item } of lists.lists.prompts) {
      const name = fitName(conflictName(member, own, resolution));
      if (item.name === undefined) continue;
      if (prompts.has(name)) {
        outdone.push({ list: 'prompts', name, member, own });
        continue;
      }
      const { start, end } = item.span;
      const patches = name === own ? [] : [{ span: item.name.span, bytes: jsonString(name) }];
      prompts.set(name, { member, own, bytes: Buffer.concat(patchedParts(page, start, end, patches)) });
    }
  }
  return prompts;
}

function ordered(members: readonly OfferingMember[], { strategy, priorityOrder }: ConflictResolution) {
  const byName = members.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (strategy !== 'priority') return byName;
  const ranks = new Map(priorityOrder.map((name, index) => [name, index]));
  const rank = ({ name }: OfferingMember) => ranks.get(name) ?? priorityOrder.length;
  return byName.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Returns items by URI. The member whose name sorts first gets a shared URI, but shared URIs of apps become distinct.
 */
function firstWithUri(
  members: readonly OfferingMember[],
  list: 'resources' | 'resourceTemplates' | 'skills',
  apps: Apps,
  outdone: OutdoneItem[],
): ReadonlyMap<string, ItemOfMember> {
  const found = new Map<string, ItemOfMember>();
  for (const { name: member, lists } of members.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const { key: own, page, item } of lists.lists[list]) {
      const name = apps.uriOf({ member, own });
      if (found.has(name)) {
        outdone.push({ list, name, member, own });
        continue;
      }
      const { span, uri, uriTemplate } = item;
      const place = list === 'resourceTemplates' ? uriTemplate : uri;
      const patches = name === own || place === undefined ? [] : [{ span: place.span, bytes: jsonString(name) }];
      found.set(name, { member, own, bytes: Buffer.concat(patchedParts(page, span.start, span.end, patches)) });
    }
  }
  return found;
}

function resourceFinder(
  members: readonly OfferingMember[],
  apps: Apps,
  resources: ReadonlyMap<string, ItemOfMember>,
  { templates, skills }: Readonly<Record<'templates' | 'skills', ReadonlyMap<string, ItemOfMember>>>,
): Offer['findResource'] {
  const names = new Set(members.map(({ name }) => name));
  const folders = skillFolders(members);
  // Servers need not list their resources. If only one member has resources, that member gets all other URIs.
  const [single, ...others] = members.filter(({ lists }) => isObject(lists.capabilities.resources));
  const only = others.length === 0 ? single?.name : undefined;
  return (uri) => {
    const named = readMemberAppUri(uri);
    if (named !== undefined) return names.has(named.member) ? named : undefined;
    if (apps.isShared(uri)) return undefined;
    const listed = resources.get(uri) ?? skills.get(uri) ?? templates.get(uri);
    const member =
      listed?.member ?? apps.ownerOf(uri) ?? skillMember(folders, uri) ?? templateMember(templates, uri) ?? only;
    return member === undefined ? undefined : { member, own: uri };
  };
}

function plainItems(found: ReadonlyMap<string, ItemOfMember>): readonly ListedItem[] {
  return [...found].map(([key, { bytes }]) => sameForAll(key, bytes));
}

function templateMember(templates: ReadonlyMap<string, ItemOfMember>, uri: string): string | undefined {
  for (const [template, { member }] of templates) if (matchTemplate(template, uri)) return member;
  return undefined;
}
