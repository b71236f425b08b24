// Reads the filter of a `subscriptions/listen` (MCP 2026-07-28), if all readers read the filter in the same way.

import type { Span } from '../wire/message.ts';
import { scanValueStrict } from '../wire/scan.ts';

/**
 * Returns the object `notifications` of params; undefined if a key is repeated, or has another letter case than
 * declared.
 */
export function readNotifications(body: Buffer, params: Span): Span | 'absent' | undefined {
  let notifications: Span | undefined;
  const member = (key: string, value: Span) => {
    if (key === 'notifications') notifications = value;
  };
  if (!scanValueStrict(body, params, { deep: true, known: ['notifications'], member }).ok) return undefined;
  if (notifications === undefined) return 'absent';
  const known = ['resourceSubscriptions', 'taskIds', 'toolsListChanged', 'promptsListChanged', 'resourcesListChanged'];
  return scanValueStrict(body, notifications, { deep: true, known }).ok ? notifications : undefined;
}
