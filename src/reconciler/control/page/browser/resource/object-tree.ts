// Renders the objects of a resource with their readiness, and the pods of its workloads.

import { h } from 'preact';
import { Glyph } from '#std/page/shared/kit/states.ts';
import type { EntryState } from '../../../../run/fleet-state/format.ts';
import type { DetailedObject } from './resource-format.ts';

interface Props {
  /** Id of the resource itself. */
  readonly root: string;
  readonly objects: readonly DetailedObject[];
  readonly omitted: number;
}

const LOOKS: Readonly<Record<DetailedObject['state'], readonly [EntryState, string]>> = {
  ready: ['healthy', 'ready'],
  'not-ready': ['progressing', 'not ready'],
  missing: ['failed', 'missing'],
};

export function ObjectTree({ root, objects, omitted }: Props) {
  const children = objects.filter(({ id }) => id !== root);
  if (children.length === 0) return null;
  return h(
    'section',
    null,
    h('h2', null, 'Made of ', h('span', { class: 'count' }, children.length + omitted)),
    h(
      'ul',
      { class: 'tree', role: 'list' },
      children.map((object) => h(Branch, { key: object.id, object })),
    ),
    omitted === 0 ? null : h('p', { class: 'hint' }, `${omitted} more were not read.`),
  );
}

function Branch({ object: { id, state, why, differences, pods = [] } }: { readonly object: DetailedObject }) {
  const [look, word] = LOOKS[state];
  const [kind, name] = id.split('/').slice(-2);
  return h(
    'li',
    { class: 'branch' },
    h(
      'div',
      { class: 'leaf' },
      h(Glyph, { state: look }),
      h('span', { class: 'soft kind' }, kind),
      h('span', { class: 'name text' }, name),
      differences.length === 0 ? null : h('span', { class: 'word drifted' }, `${differences.length} differ`),
      state === 'ready' ? h('span', { class: 'unseen' }, word) : h('span', { class: `word ${look}` }, word),
      why === '' ? null : h('span', { class: 'soft text' }, why),
    ),
    pods.length === 0
      ? null
      : h(
          'ul',
          { role: 'list' },
          pods.map((pod) => h(Pod, { key: pod.name, pod })),
        ),
  );
}

function Pod({
  pod: { name, ready, phase, restarts, lastEnd, why },
}: {
  readonly pod: NonNullable<DetailedObject['pods']>[number];
}) {
  const state: EntryState = ready ? 'healthy' : phase === 'Failed' ? 'failed' : 'progressing';
  return h(
    'li',
    { class: 'leaf' },
    h(Glyph, { state }),
    h('span', { class: 'soft kind' }, 'Pod'),
    h('span', { class: 'name text' }, name),
    h('span', { class: 'soft' }, phase),
    restarts === 0
      ? null
      : h('span', { class: 'word degraded' }, `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`),
    restarts === 0 || lastEnd === undefined ? null : h('span', { class: 'soft text' }, `the last after ${lastEnd}`),
    why === '' ? null : h('span', { class: 'soft text' }, why),
  );
}
