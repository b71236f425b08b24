// What a virtual server offers, out of what its members offer: which name means what, and the lists that clients see. Pure.

import {
  type ConflictResolution,
  conflictName,
  type RoutedTool,
  routeTools,
} from '#contracts/virtual-model/aggregate.ts';
import { fitName } from '#contracts/virtual-model/short-names.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { jsonString, patchedParts } from '../../wire/patch.ts';
import { OPTIMIZER_TOOLS } from '../optimizer/definitions.ts';
import type { SearchedList } from '../optimizer/tool-index.ts';
import type { OwnTools, Route, ToolRoute } from '../own-tools/ports.ts';
import { offeredCapabilities } from './capabilities.ts';
import { LIST_NAMES, type ListName } from './list-names.ts';
import { toolForSessions } from './lists.ts';
import { createPages, type ListedItem, type Pages } from './pages.ts';
import type { AggregationRules, OfferingMember } from './rules.ts';
import { createToolRoutes, memberTools, withOwnTools } from './tool-routes.ts';
import { matchTemplate } from './uri-template.ts';

export interface Offer {
  readonly capabilities: JsonObject;
  readonly tools: ReadonlyMap<string, ToolRoute>;
  /** Of a member: by a name of `tools`, or as `workload.tool`. */
  find(name: string): ToolRoute | undefined;
  readonly prompts: ReadonlyMap<string, Route>;
  /** The member that has a resource. */
  resourceMember(uri: string): string | undefined;
  readonly lists: Readonly<Record<ListName, Pages>>;
  /** The tools that clients find instead of seeing them; absent: they see them. */
  readonly searched?: SearchedList;
  /** Names that several tools of members want, and what came of it. */
  readonly clashes: readonly string[];
  readonly outdone: readonly RoutedTool[];
  /** The same of prompts, resources and templates: what another member has taken the name of. */
  readonly outdoneOthers: readonly OutdoneItem[];
}

interface OutdoneItem extends Route {
  readonly list: Exclude<ListName, 'tools'>;
  /** What clients call the one that has it. */
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
  const toolRoutes = createToolRoutes(members, rules, routes);
  const tools = withOwnTools(toolRoutes, own);
  const advertised = createPages('tools', toolItems(tools));
  const outdoneOthers: OutdoneItem[] = [];
  const prompts = promptsOf(members, rules.resolution, outdoneOthers);
  const resources = firstWithUri(members, 'resources', outdoneOthers);
  const templates = firstWithUri(members, 'resourceTemplates', outdoneOthers);
  // Servers need not list what they have: where only one has resources at all, it is asked.
  const [single, ...others] = members.filter(({ lists }) => isObject(lists.capabilities.resources));
  const only = others.length === 0 ? single?.name : undefined;
  return {
    capabilities: offeredCapabilities(members.map(({ lists }) => lists.capabilities)),
    tools,
    find: toolRoutes.find,
    prompts: new Map([...prompts].map(([name, { member, own }]) => [name, { member, own }])),
    resourceMember: (uri) =>
      resources.get(uri)?.member ?? templates.get(uri)?.member ?? templateMember(templates, uri) ?? only,
    lists: {
      tools: optimized ? createPages('tools', OPTIMIZER_TOOLS) : advertised,
      prompts: createPages(
        'prompts',
        [...prompts].map(([key, { bytes }]) => sameForAll(key, bytes)),
      ),
      resources: createPages('resources', plainItems(resources)),
      resourceTemplates: createPages('resourceTemplates', plainItems(templates)),
    },
    ...(optimized ? { searched: advertised } : {}),
    clashes: routes.clashes,
    outdone: routes.outdone,
    outdoneOthers,
  };
}

/** Every tool that a client or a workflow can name, whether clients see it or not. */
export function knownTools({
  tools,
  lists,
  outdone,
  find,
}: Offer): readonly { readonly name: string; readonly definition: Buffer }[] {
  const shown = lists.tools.items.map(({ key, stateless }) => ({ name: key, definition: stateless }));
  // Workflows call them as `workload.tool`.
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

function sameForAll(key: string, bytes: Buffer): ListedItem {
  return { key, stateless: bytes, session: bytes };
}

interface Found extends Route {
  readonly bytes: Buffer;
}

/** Equal names: the first member has it, in the order of the strategy. */
function promptsOf(
  members: readonly OfferingMember[],
  resolution: ConflictResolution,
  outdone: OutdoneItem[],
): ReadonlyMap<string, Found> {
  const prompts = new Map<string, Found>();
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

/** URIs are what they are: of equal ones the first member by name has it. */
function firstWithUri(
  members: readonly OfferingMember[],
  list: 'resources' | 'resourceTemplates',
  outdone: OutdoneItem[],
): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  for (const { name: member, lists } of members.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const { key, page, item } of lists.lists[list]) {
      if (found.has(key)) outdone.push({ list, name: key, member, own: key });
      else found.set(key, { member, own: key, bytes: page.subarray(item.span.start, item.span.end) });
    }
  }
  return found;
}

function plainItems(found: ReadonlyMap<string, Found>): readonly ListedItem[] {
  return [...found].map(([key, { bytes }]) => sameForAll(key, bytes));
}

function templateMember(templates: ReadonlyMap<string, Found>, uri: string): string | undefined {
  for (const [template, { member }] of templates) if (matchTemplate(template, uri)) return member;
  return undefined;
}
