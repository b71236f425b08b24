// Renders the button that shows further items of a list that is cut.

import { h } from 'preact';

interface Props {
  /** Number of items that are not shown. */
  readonly left: number;
  /** Number of items that a click adds. */
  readonly step: number;
  readonly more: () => void;
}

export function More({ left, step, more }: Props) {
  if (left <= 0) return null;
  return h(
    'button',
    { type: 'button', class: 'quiet more', onClick: more },
    left <= step ? `Show ${left} more` : `Show ${step} of ${left} more`,
  );
}
