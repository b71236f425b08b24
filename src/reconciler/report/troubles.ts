// The two troubles that a resource may have: it is not ready, or its server is not as its lock says.

import type { Troubled } from '../run/operate/resources-status.ts';

export const TROUBLES: readonly { readonly title: string; readonly has: (each: Troubled) => boolean }[] = [
  { title: 'not ready', has: (each) => !isReady(each) },
  { title: 'not as they were reviewed', has: isReady },
];

/** A ready resource is in trouble only if its server is not as its lock says. */
function isReady({ conditions }: Troubled): boolean {
  return conditions.some(({ type }) => type === 'ToolsLocked') && !conditions.some(({ type }) => type === 'Ready');
}

export function shareOf(count: number, total: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} of ${total} ${what}`];
}
