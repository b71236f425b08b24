// Reads the filter of a `subscriptions/listen` (MCP 2026-07-28), and refuses a filter that JSON readers could read
// differently.

import type { Span } from '../wire/message.ts';
import { scanValueStrict } from '../wire/scan.ts';

/**
 * Returns the position of `params.notifications`. undefined if a key repeats or differs from its declared name in
 * letter case.
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
