// Tests with random settings that previews of a virtual server show the same tools as its lists.

import { expect, it } from 'vitest';
import { aggregatedTools, type ConflictResolution } from '#contracts/virtual-model/aggregate.ts';
import { assembleOffer } from '#gateway/virtual-server/catalogue/assemble.ts';
import type { OfferedItem } from '#gateway/virtual-server/catalogue/lists.ts';
import type { AggregationRules, OfferingMember } from '#gateway/virtual-server/catalogue/rules.ts';
import { listItems } from '#gateway/wire/lists.ts';
import { type Random, seeded } from '../../harness/random.ts';

const WORKLOADS = ['a', 'b', 'c'];
const TOOLS = ['find', 'read', 'send', 'x'.repeat(63)];

/** A response to tools/list for a client with a session. */
interface Listed {
  readonly result: { readonly tools: readonly { readonly name: string }[] };
}

function memberOf(name: string, random: Random): OfferingMember {
  const tools = TOOLS.filter(() => random.chance(0.6)).map((tool) => ({ name: tool, inputSchema: { type: 'object' } }));
  const page = Buffer.from(JSON.stringify({ tools }));
  const list = listItems(page, { start: 0, end: page.length }, 'tools');
  const items = list.ok ? list.items : [];
  const offered = items.map((item): OfferedItem => ({ key: item.name?.value ?? '', page, item }));
  return {
    name,
    lists: {
      capabilities: { tools: {} },
      lists: { tools: offered, prompts: [], resources: [], resourceTemplates: [], skills: [] },
    },
  };
}

function rulesOf(random: Random): AggregationRules {
  const strategies: readonly ConflictResolution['strategy'][] = ['prefix', 'priority', 'manual'];
  const shown = new Map(
    WORKLOADS.map((workload) => {
      const overrides = Object.fromEntries(
        TOOLS.filter(() => random.chance(0.3)).map((tool) => [tool, { name: random.pick(['find', 'other', 'read']) }]),
      );
      const filter = random.chance(0.5) ? ['find', 'other', 'send'].filter(() => random.chance(0.7)) : [];
      return [workload, { filter, overrides, hidden: random.chance(0.2) }] as const;
    }),
  );
  return {
    resolution: {
      strategy: random.pick(strategies),
      prefixFormat: '{workload}_',
      priorityOrder: WORKLOADS.filter(() => random.chance(0.5)),
    },
    shown: (workload) => shown.get(workload) ?? { filter: [], overrides: {}, hidden: false },
  };
}

it.each(Array.from({ length: 300 }, (_, seed) => seed))(
  'lists and previews contain the same tools, seed %i',
  (seed) => {
    const random = seeded(seed);
    const members = WORKLOADS.map((name) => memberOf(name, random));
    const rules = rulesOf(random);
    const preview = aggregatedTools(
      members.map(({ name, lists }) => {
        const { filter, overrides, hidden } = rules.shown(name);
        const names = Object.fromEntries(Object.entries(overrides).map(([own, each]) => [own, each.name ?? own]));
        const tools = lists.lists.tools.map(({ key }) => ({ origin: key, name: key, member: '' }));
        return { workload: name, tools, filter, names, hidden };
      }),
      rules.resolution,
    );
    const offer = assembleOffer(members, rules);
    const page = offer.lists.tools.page('session', undefined)?.toString() ?? '';
    const { result: listed }: Listed = JSON.parse(`{"result":{${page}`);
    expect(listed.tools.map(({ name }) => name)).toEqual(preview.tools.map(({ name }) => name).toSorted());
    for (const { name, origin } of preview.tools) {
      const route = offer.tools.get(name);
      expect(`${route?.member}/${route?.own}`, name).toBe(origin);
    }
  },
);
