// Renders an approval of deletions as lines for people and as JSON, version 1.

import { countText } from '#std/words/count-text.ts';
import type { Approved } from '../run/operate/approve.ts';
import { deletionLines } from './deletion-text.ts';
import { visibleLines } from './visible.ts';

export function textOfApproval({ list, expiresAt }: Approved): string {
  const count = list.deletions.length;
  const then = count === 0 ? 'writes the changes' : `deletes ${countText(count, 'object')}`;
  return visibleLines([`approved until ${expiresAt}: the next run ${then}`, ...deletionLines(list.deletions)]);
}

export function jsonOfApproval({ list, expiresAt }: Approved): string {
  const { source, hash, deletions } = list;
  return `${JSON.stringify({ version: 1, approved: { source, hash, expiresAt, deletions } }, null, 2)}\n`;
}
