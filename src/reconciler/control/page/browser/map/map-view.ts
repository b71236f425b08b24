// Renders the fleet as a map: sources, groups, servers, virtual servers and registries from left to right.

import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Glyph, STATE_NAMES, STATES } from '#std/page/shared/kit/states.ts';
import type { FleetEntry } from '../../../../run/fleet-state/format.ts';
import type { FleetProps } from '../fleet-props.ts';
import { resourceAddress } from '../route.ts';
import { type Layout, layoutOf, NODE_HEIGHT, NODE_WIDTH, type Placed } from './map-layout.ts';
import { type MapNode, mapOf } from './map-model.ts';

export function FleetMap({ entries, all }: FleetProps) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string>();
  const layout = useMemo(() => layoutOf(mapOf(entries, all, unfolded)), [entries, all, unfolded]);
  const near = useMemo(() => neighbours(layout, active), [layout, active]);
  const shown = useMemo(() => new Set(entries), [entries]);
  const unfold = (key: string) => setUnfolded(new Set([...unfolded, key]));
  if (layout.nodes.length === 0)
    return h('p', { class: 'empty' }, 'The map shows sources, groups, servers and registries; none of them matches.');
  return h(
    'div',
    { class: 'map-frame' },
    h('p', { class: 'hint columns' }, 'Sources → groups → servers → virtual servers → registries'),
    unfolded.size === 0
      ? null
      : h('button', { type: 'button', class: 'quiet', onClick: () => setUnfolded(new Set()) }, 'Fold again'),
    h(
      'div',
      { class: 'map', role: 'region', 'aria-label': 'Map of the fleet', tabIndex: 0 },
      h(
        'div',
        {
          class: `canvas${active === undefined ? '' : ' focused'}`,
          style: { width: px(layout.width), height: px(layout.height) },
        },
        h(Lines, { layout, active }),
        layout.nodes.map((placed) =>
          h(Node, {
            ...{ key: placed.node.key, placed, unfold, setActive },
            isNear: near.has(placed.node.key),
            isContext: !placed.node.entries.some((entry) => shown.has(entry)),
          }),
        ),
      ),
    ),
  );
}

function Lines({ layout, active }: { readonly layout: Layout; readonly active: string | undefined }) {
  const { width, height, lines } = layout;
  return h(
    'svg',
    { width, height, 'aria-hidden': true },
    lines.map(({ from, to, path }) =>
      h('path', { key: `${from} ${to}`, d: path, class: from === active || to === active ? 'line on' : 'line' }),
    ),
  );
}

interface NodeProps {
  readonly placed: Placed;
  readonly isNear: boolean;
  readonly isContext: boolean;
  readonly unfold: (key: string) => void;
  readonly setActive: (key: string | undefined) => void;
}

function Node({ placed: { node, left, top }, isNear, isContext, unfold, setActive }: NodeProps) {
  const { key, state, folded, entries } = node;
  const [first] = entries;
  const attributes = {
    class: `node ${state}${folded ? ' folded' : ''}${isNear ? ' near' : ''}${isContext ? ' context' : ''}`,
    style: { left: px(left), top: px(top), width: px(NODE_WIDTH), height: px(NODE_HEIGHT) },
    onMouseEnter: () => setActive(key),
    onMouseLeave: () => setActive(undefined),
    onFocus: () => setActive(key),
    onBlur: () => setActive(undefined),
  };
  if (first === undefined) return null;
  if (folded) return h('button', { type: 'button', ...attributes, onClick: () => unfold(key) }, h(Folded, { node }));
  return h(
    'a',
    { ...attributes, href: resourceAddress(first.id), title: `${first.id}: ${STATES[state].label}. ${first.why}` },
    h(Glyph, { state }),
    h(
      'span',
      { class: 'who' },
      h('span', { class: 'name text' }, first.name),
      h('span', { class: 'soft text' }, first.namespace === undefined ? '' : `${first.namespace} · `, first.kind),
    ),
    h('span', { class: 'unseen' }, STATES[state].label),
  );
}

function Folded({ node: { state, entries } }: { readonly node: MapNode }) {
  const [first] = entries;
  const { namespace, kind = '' } = first ?? {};
  const words = [...(namespace === undefined ? [] : [namespace]), ...exceptionsOf(entries)].join(', ');
  return h(
    'span',
    { class: 'stack' },
    h(Glyph, { state }),
    h(
      'span',
      { class: 'who' },
      h('span', { class: 'name' }, `${entries.length} ${kind}s`),
      h('span', { class: 'soft text' }, words),
    ),
  );
}

function px(length: number): string {
  return `${Math.round(length)}px`;
}

/** Counts the entries in each state other than healthy. */
function exceptionsOf(entries: readonly FleetEntry[]): readonly string[] {
  const counts = STATE_NAMES.map((state) => ({
    state,
    count: entries.filter((entry) => entry.state === state).length,
  }));
  const others = counts.filter(({ state, count }) => count > 0 && state !== 'healthy');
  return others.length === 0
    ? ['all healthy']
    : others.map(({ state, count }) => `${count} ${STATES[state].label.toLowerCase()}`);
}

function neighbours({ lines }: Layout, active: string | undefined): ReadonlySet<string> {
  if (active === undefined) return new Set();
  const touching = lines.filter(({ from, to }) => from === active || to === active);
  return new Set([active, ...touching.flatMap(({ from, to }) => [from, to])]);
}
