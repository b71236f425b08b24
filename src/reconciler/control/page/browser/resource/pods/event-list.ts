// Renders the Events about a resource and its objects.

import { h } from 'preact';
import { Section, Table, Unread } from '#std/page/shared/kit/section.ts';
import { Time } from '../../times.ts';
import type { ResourceDetail } from '../resource-format.ts';

interface Props extends Pick<ResourceDetail, 'events' | 'eventsUnread'> {
  readonly now: number;
}

export function EventList({ events, eventsUnread, now }: Props) {
  if (events.length === 0 && eventsUnread === undefined) return null;
  return h(
    Section,
    { title: 'Events', ...(events.length > 0 && { count: events.length }) },
    eventsUnread === undefined
      ? null
      : h(Unread, { what: events.length === 0 ? 'Events' : 'Some Events', why: eventsUnread }),
    events.length === 0
      ? null
      : h(Table, {
          label: 'Events',
          head: ['Event', 'Object', 'Message', 'Last'],
          rows: events.map(({ object, type, reason, note, count, at }) => [
            h(
              'span',
              { class: type === 'Warning' ? 'word degraded' : '' },
              reason,
              count > 1 ? h('span', { class: 'soft' }, ` ×${count}`) : null,
            ),
            object,
            note,
            at === '' ? '' : h(Time, { at, now }),
          ]),
        }),
  );
}
