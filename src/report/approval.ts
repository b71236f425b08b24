// An approval of deletions, as lines for people and as JSON, version 1. Knows nothing about where it is kept.

import type { Approved } from '../reconcile/operate/approve.ts';
import { deletionLines } from './deletion-text.ts';
import { visibleLines } from './visible.ts';

export function textOfApproval({ list, expiresAt }: Approved): string {
  const head = `approved until ${expiresAt}: the next run deletes these ${list.deletions.length}`;
  return visibleLines([head, ...deletionLines(list.deletions)]);
}

export function jsonOfApproval({ list, expiresAt }: Approved): string {
  const { source, hash, deletions } = list;
  return `${JSON.stringify({ version: 1, approved: { source, hash, expiresAt, deletions } }, null, 2)}\n`;
}
