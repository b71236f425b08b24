// Defines three groups of resources with problems: not ready, different from the tools lock, and not compared with it.

import type { Troubled } from '../run/operate/resources-status.ts';

export const TROUBLES: readonly { readonly title: string; readonly has: (each: Troubled) => boolean }[] = [
  { title: 'not ready', has: (each) => !isReady(each) },
  { title: 'not as they were reviewed', has: (each) => isReady(each) && !isUnreported(each) },
  {
    title: 'without a report whether they are as they were reviewed',
    has: (each) => isReady(each) && isUnreported(each),
  },
];

/** Returns true if the condition ToolsLocked reports a problem, and the condition Ready reports none. */
function isReady({ conditions }: Troubled): boolean {
  return conditions.some(({ type }) => type === 'ToolsLocked') && !conditions.some(({ type }) => type === 'Ready');
}

function isUnreported({ conditions }: Troubled): boolean {
  return conditions.some(({ type, status }) => type === 'ToolsLocked' && status === 'Unknown');
}

export function shareOf(count: number, total: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} of ${total} ${what}`];
}
