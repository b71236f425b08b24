// Describes a virtual server for operators: backends, offered items, name conflicts, workflows and their last runs. The
// documents never contain credentials, arguments or results.

import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import type { Offer } from './catalogue/assemble.ts';
import type { AggregationRules } from './catalogue/rules.ts';
import { healthDocument, statusDocument } from './health/status.ts';
import type { Member } from './members/member.ts';
import { OWN_MEMBER } from './own-tools/own-member.ts';
import type { MemberRoute } from './own-tools/ports.ts';
import type { EndedRun } from './workflows/last-runs.ts';

type TextMap = Readonly<Record<string, string>>;

export interface Overview {
  readonly name: string;
  readonly version: string;
  readonly metadata: TextMap | undefined;
  readonly members: readonly Member[];
  readonly memberMetadata: Readonly<Record<string, TextMap | undefined>>;
  readonly resolution: AggregationRules['resolution'];
  readonly offer: Offer;
  readonly workflows: readonly CompositeToolConfig[];
  readonly runs: readonly EndedRun[];
}

/** Returns the document `/status` for operators, with names. */
export function overviewDocument(overview: Overview): JsonObject {
  const { name, version, metadata, members, resolution, offer, workflows, runs } = overview;
  return {
    name,
    ...statusDocument(members, version),
    ...namedHealth(overview),
    ...(metadata === undefined ? {} : { metadata }),
    conflict_resolution: resolution.strategy,
    offered: offeredItems(offer),
    conflicts: conflictsOf(overview),
    workflows: workflows.map((workflow) => workflowGraph(workflow, offer)),
    runs: runs.map(runDocument),
  };
}

/** Returns the document `/api/backends/health` for operators, with names. */
function namedHealth({ members, memberMetadata }: Overview): JsonObject {
  const known = healthDocument(members);
  const backends = objectsIn(known.backends).map((report, index): JsonObject => {
    const member = members[index];
    if (member === undefined) return report;
    const { message } = member.health.report();
    const metadata = memberMetadata[member.name];
    return {
      name: member.name,
      url: shownUrl(member.url),
      ...report,
      ...(message === '' ? {} : { message }),
      ...(member.perCaller ? { per_caller: true } : {}),
      ...(metadata === undefined ? {} : { metadata }),
    };
  });
  return { ...known, backends };
}

/** Returns the origin only: users, paths and queries of URLs may be credentials. */
function shownUrl(text: string): string {
  return URL.parse(text)?.origin ?? '';
}

function offeredItems({ tools, prompts, lists, findResource }: Offer): JsonObject[] {
  const uris = (list: 'resources' | 'resourceTemplates' | 'skills') =>
    lists[list].items.map(({ key }) => ({
      list,
      name: key,
      ...memberPlace(findResource(key)),
      advertised: true,
    }));
  return [
    ...[...tools.values()].map(({ name, member, own, advertised }) => ({
      list: 'tools',
      name,
      ...memberPlace({ member, own }),
      advertised,
    })),
    ...[...prompts].map(([name, { member, own }]) => ({
      list: 'prompts',
      name,
      ...memberPlace({ member, own }),
      advertised: true,
    })),
    ...uris('resources'),
    ...uris('resourceTemplates'),
    ...uris('skills'),
  ];
}

/**
 * Returns the backend of an item, and the item's name at the backend. Both are absent if the item belongs to the
 * virtual server.
 */
function memberPlace(route: MemberRoute | undefined): JsonObject {
  return route === undefined || route.member === OWN_MEMBER ? {} : { backend: route.member, own: route.own };
}

function conflictsOf({ offer, resolution }: Overview): JsonObject[] {
  const { tools, outdone, outdoneOthers, prompts, findResource, find } = offer;
  const outdoneByName = Map.groupBy(outdone, ({ name }) => name);
  const ofTools = [...outdoneByName].map(([name, losers]): JsonObject => {
    const winner = resolution.strategy === 'manual' ? undefined : find(name);
    return {
      list: 'tools',
      name,
      ...givenTo(winner),
      others: losers.map(({ member, own }) => memberPlace({ member, own })),
    };
  });
  const taken = [...tools.values()].flatMap(({ name, member }): JsonObject[] => {
    const other = member === OWN_MEMBER ? find(name) : undefined;
    return other === undefined || other.name !== name
      ? []
      : [{ list: 'tools', name, given_to: {}, others: [memberPlace(other)] }];
  });
  const byItem = Map.groupBy(outdoneOthers, ({ list, name }) => `${list} ${name}`);
  const ofOthers = [...byItem.values()].flatMap((losers): JsonObject[] => {
    const [first] = losers;
    if (first === undefined) return [];
    const { list, name } = first;
    const winner = list === 'prompts' ? prompts.get(name) : findResource(name);
    return [{ list, name, ...givenTo(winner), others: losers.map(({ member, own }) => memberPlace({ member, own })) }];
  });
  return [...ofTools, ...taken, ...ofOthers];
}

function givenTo(route: MemberRoute | undefined): JsonObject {
  return route === undefined ? {} : { given_to: memberPlace(route) };
}

/** Returns steps and their dependencies. Arguments, conditions and messages are left out. */
function workflowGraph({ name, description, steps }: CompositeToolConfig, { find, tools }: Offer): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    shown: tools.get(name)?.member === OWN_MEMBER,
    steps: steps.map(({ id, type, tool, step, dependsOn = [], condition }): JsonObject => {
      const inner = isObject(step) && typeof step.tool === 'string' ? step.tool : undefined;
      const called = type === 'forEach' ? inner : type === 'tool' ? tool : undefined;
      return {
        id,
        type,
        ...(called === undefined ? {} : { tool: called, missing: find(called) === undefined }),
        depends_on: [...dependsOn],
        conditional: condition !== undefined,
      };
    }),
  };
}

function runDocument({ run, workflow, endedAt, durationMs, result, steps }: EndedRun): JsonObject {
  return {
    run,
    workflow,
    ended: new Date(endedAt).toISOString(),
    duration_ms: durationMs,
    result,
    steps: steps.map(({ id, result: end, durationMs: ms, retries }) => ({ id, result: end, duration_ms: ms, retries })),
  };
}
