// An approval of deletions, as lines for people and as JSON, version 1. Knows nothing about where it is kept.

import type { Approved } from '../reconcile/operate/approve.ts';
import { deletionLines } from './deletion-text.ts';
import { counted } from './order.ts';
import { visibleLines } from './visible.ts';

export function textOfApproval({ list, expiresAt }: Approved): string {
  const objects = counted(list.deletions.length, 'object');
  const then = objects === '' ? 'writes the changes' : `deletes ${objects}`;
  return visibleLines([`approved until ${expiresAt}: the next run ${then}`, ...deletionLines(list.deletions)]);
}

export function jsonOfApproval({ list, expiresAt }: Approved): string {
  const { source, hash, deletions } = list;
  return `${JSON.stringify({ version: 1, approved: { source, hash, expiresAt, deletions } }, null, 2)}\n`;
}
