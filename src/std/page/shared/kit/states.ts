// Defines how pages show each state: by a word, a shape and a color. The shape distinguishes states without the color.

import { h } from 'preact';

export type StateName =
  | 'failed'
  | 'drifted'
  | 'kept'
  | 'degraded'
  | 'progressing'
  | 'unknown'
  | 'not-run'
  | 'sleeping'
  | 'healthy';

interface Look {
  readonly label: string;
  /** SVG path in a box of 16 by 16. */
  readonly shape: string;
  /** Set if the shape is drawn as a line only. */
  readonly hollow?: true;
}

/** States from worst to best. */
export const STATES: Readonly<Record<StateName, Look>> = {
  failed: { label: 'Failed', shape: 'M5 1h6l4 4v6l-4 4H5l-4-4V5ZM5.500 5.500l5 5m0-5-5 5' },
  drifted: { label: 'Drifted', shape: 'M8 1l7 7-7 7-7-7ZM8 5v3.500m0 2v.200' },
  kept: { label: 'Kept unchanged', shape: 'M2 2h12v12H2ZM6 5.500v5m4-5v5' },
  degraded: { label: 'Degraded', shape: 'M8 1.500l7 12.500H1ZM8 6v3.500m0 2v.200' },
  progressing: {
    label: 'Progressing',
    shape: 'M8 1.500a6.500 6.500 0 1 1-6.500 6.500M8 4.500V8l2.500 1.500',
    hollow: true,
  },
  unknown: {
    label: 'Unknown',
    shape:
      'M8 1.500a6.500 6.500 0 1 1 0 13a6.500 6.500 0 1 1 0-13M6 6.300a2 2 0 1 1 2.700 1.900c-.500.200-.700.500-.700 1.100m0 2v.200',
    hollow: true,
  },
  'not-run': {
    label: 'Not run here',
    shape: 'M8 1.500a6.500 6.500 0 1 1 0 13a6.500 6.500 0 1 1 0-13M4 12L12 4',
    hollow: true,
  },
  sleeping: { label: 'Sleeping', shape: 'M13.500 9.500A6 6 0 1 1 6.500 2.500a5 5 0 0 0 7 7Z', hollow: true },
  healthy: { label: 'Healthy', shape: 'M8 1a7 7 0 1 1 0 14A7 7 0 1 1 8 1M4.800 8.200l2.200 2.200 4.200-4.600' },
};

export const STATE_NAMES = Object.keys(STATES) as readonly StateName[];

export function Glyph({ state, size = 16 }: { readonly state: StateName; readonly size?: number }) {
  const { shape, hollow } = STATES[state];
  const attributes = { viewBox: '0 0 16 16', width: size, height: size, 'aria-hidden': true };
  return h(
    'svg',
    { ...attributes, class: `glyph ${state}${hollow === true ? ' hollow' : ''}` },
    h('path', { d: shape }),
  );
}

interface WordProps {
  readonly state: StateName;
  /** Default: the name of the state. */
  readonly label?: string;
}

export function StateWord({ state, label = STATES[state].label }: WordProps) {
  return h('span', { class: `word ${state}` }, h(Glyph, { state }), label);
}
