// Renders the parts of a virtual server: its members, what it offers, names that several members have, and its
// workflows with their last runs.

import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { More } from '#std/page/shared/kit/more.ts';
import { Section, Table } from '#std/page/shared/kit/section.ts';
import { Glyph } from '#std/page/shared/kit/states.ts';
import type { EntryState } from '../../../../../run/fleet-state/format.ts';
import { Time } from '../../times.ts';
import type { Backend, Conflict, ListName, Offered, VirtualServerDocument, Workflow, WorkflowRun } from './document.ts';
import { WorkflowGraph } from './workflow-graph.ts';

interface Props {
  readonly document: VirtualServerDocument;
  readonly now: number;
}

export function VirtualServer({ document: { backends, offered, conflicts, workflows, runs }, now }: Props) {
  const byBackend = Map.groupBy(offered, ({ backend }) => backend);
  const own = byBackend.get(undefined) ?? [];
  return [
    h(
      Section,
      { title: 'Members', count: backends.length },
      backends.length === 0 ? h('p', { class: 'calm' }, 'It has no members.') : null,
      backends.map((backend) =>
        h(Member, { key: backend.name, backend, offered: byBackend.get(backend.name) ?? [], now }),
      ),
      own.length === 0
        ? null
        : h(Folded, { name: 'The server itself', facts: countsOf(own) }, h(OfferedItems, { offered: own })),
    ),
    conflicts.length === 0 ? null : h(Conflicts, { conflicts }),
    workflows.length === 0 ? null : h(Workflows, { workflows }),
    runs.length === 0 ? null : h(Runs, { runs, now }),
  ];
}

interface FoldedProps {
  readonly name: string;
  readonly state?: EntryState;
  readonly facts: string;
  readonly children?: ComponentChildren;
}

function Folded({ name, state, facts, children }: FoldedProps) {
  return h(
    'details',
    { class: 'folded-part' },
    h(
      'summary',
      null,
      state === undefined ? null : h(Glyph, { state }),
      h('span', { class: 'name text' }, name),
      h('span', { class: 'soft text' }, facts),
    ),
    h('div', { class: 'inside' }, children),
  );
}

const LOOKS: Readonly<Record<string, EntryState>> = { healthy: 'healthy', degraded: 'degraded', unhealthy: 'failed' };

interface MemberProps {
  readonly backend: Backend;
  readonly offered: readonly Offered[];
  readonly now: number;
}

function Member({ backend, offered, now }: MemberProps) {
  const {
    name,
    status,
    url,
    transport,
    auth_type: auth,
    message,
    last_check: checked,
    circuit_state: circuit,
  } = backend;
  const { metadata = {}, per_caller: perCaller, consecutive_failures: failures } = backend;
  const offers = perCaller === true ? 'shows other items to each caller' : countsOf(offered);
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Address', url],
    ['Transport', transport],
    ['Authentication', auth],
    ['Last check', checked === undefined ? undefined : h(Time, { at: checked, now })],
    ['Failures in a row', failures === 0 ? undefined : String(failures)],
    ['Reason', message],
    ['Circuit', circuit],
    ...Object.entries(metadata),
  ];
  return h(
    Folded,
    {
      name,
      state: LOOKS[status] ?? 'unknown',
      facts: `${status}, ${offers}${message === undefined ? '' : `: ${message}`}`,
    },
    h(
      'dl',
      { class: 'facts' },
      facts.map(([term, value]) =>
        value === undefined
          ? null
          : h('div', { key: term }, h('dt', { class: 'text' }, term), h('dd', { class: 'text' }, value)),
      ),
    ),
    h(OfferedItems, { offered }),
  );
}

/** Number of items that are shown at first, and that a click adds: a member may have thousands. */
const ITEMS = 50;

/** Renders first the items that clients see. */
function OfferedItems({ offered }: { readonly offered: readonly Offered[] }) {
  const [count, setCount] = useState(ITEMS);
  if (offered.length === 0) return null;
  const sorted = offered.toSorted((a, b) => Number(b.advertised) - Number(a.advertised));
  return [
    h(Table, {
      label: 'Offered items',
      head: ['Name', 'Kind', 'There', 'Clients see it'],
      rows: sorted
        .slice(0, count)
        .map(({ list, name, own = name, advertised }) => [
          h('code', null, name),
          WORDS[list],
          own === name ? '' : h('code', null, own),
          advertised ? 'yes' : 'no',
        ]),
    }),
    h(More, { left: sorted.length - count, step: ITEMS, more: () => setCount(count + ITEMS) }),
  ];
}

const WORDS: Readonly<Record<ListName, string>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resource template',
  skills: 'skill',
};

function countsOf(offered: readonly Offered[]): string {
  const counts = [...Map.groupBy(offered, ({ list }) => list)].map(([list, all]) => {
    const hidden = all.filter(({ advertised }) => !advertised).length;
    const word = `${WORDS[list]}${all.length === 1 ? '' : 's'}`;
    return `${all.length} ${word}${hidden === 0 ? '' : ` (${hidden} hidden)`}`;
  });
  return counts.length === 0 ? 'offers nothing' : counts.join(', ');
}

function Conflicts({ conflicts }: { readonly conflicts: readonly Conflict[] }) {
  const place = ({ backend }: { readonly backend?: string }) => backend ?? 'the server itself';
  return h(
    Section,
    { title: 'Names that several members have', count: conflicts.length },
    h(Table, {
      label: 'Names that several members have',
      head: ['Name', 'Kind', 'Belongs to', 'Not to'],
      rows: conflicts.map(({ list, name, given_to: winner, others }) => [
        h('code', null, name),
        WORDS[list],
        winner === undefined ? 'no member' : place(winner),
        others.map(place).join(', '),
      ]),
    }),
  );
}

function Workflows({ workflows }: { readonly workflows: readonly Workflow[] }) {
  return h(
    Section,
    { title: 'Workflows', count: workflows.length },
    workflows.map(({ name, description, shown, steps }) =>
      h(
        'article',
        { key: name },
        h('h3', { class: 'text' }, name),
        description === undefined ? null : h('p', { class: 'soft text' }, description),
        shown ? null : h('p', { class: 'problem' }, 'Clients do not see it.'),
        steps
          .filter(({ missing }) => missing === true)
          .map(({ id, tool = '' }) =>
            h('p', { key: id, class: 'problem text' }, `Step ${id}: there is no tool ${tool}.`),
          ),
        h(
          'div',
          { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Steps of ${name}` },
          h(WorkflowGraph, { steps }),
        ),
      ),
    ),
  );
}

function Runs({ runs, now }: { readonly runs: readonly WorkflowRun[]; readonly now: number }) {
  return h(
    Section,
    { title: 'Last runs of its workflows', count: runs.length },
    h(Table, {
      label: 'Last runs of its workflows',
      head: ['Workflow', 'Result', 'Steps', 'Ended', 'Took'],
      numbers: 2,
      rows: runs.map(({ workflow, result, steps, ended, duration_ms: took }) => [
        workflow,
        result,
        steps
          .map(({ id, result: end, retries }) => `${id} ${end}${retries === 0 ? '' : `, ${retries} retries`}`)
          .join('; '),
        h(Time, { at: ended, now }),
        `${took} ms`,
      ]),
    }),
  );
}
