// Renders the last lines of the logs of a resource's containers. They are read when a reader opens the part.

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { Section, Unread } from '#std/page/shared/kit/section.ts';
import type { ContainerLog } from '../../../../../run/fleet-state/pods/format.ts';
import type { Api } from '../../api.ts';
import { useRead } from '../../use-read.ts';

interface Props {
  readonly api: Api;
  readonly id: string;
}

export function LogView({ api, id }: Props) {
  const [looks, setLooks] = useState(0);
  return h(
    Section,
    { title: 'Logs' },
    looks === 0
      ? h('p', { class: 'hint' }, 'The last lines of each container, without values of Secrets.')
      : h(Lines, { api, id, look: looks }),
    h(
      'button',
      { type: 'button', class: 'small', onClick: () => setLooks(looks + 1) },
      looks === 0 ? 'Show the last lines' : 'Read again',
    ),
  );
}

function Lines({ api, id, look }: Props & { readonly look: number }) {
  const answer = useRead(() => api.logs(id), [api, id, look]);
  if (answer === undefined) return h('p', { class: 'hint', role: 'status' }, 'Reading the logs');
  if (!answer.ok) return h(Unread, { what: 'The logs', why: answer.says });
  const { logs, omitted, unread } = answer.body;
  if (unread !== undefined) return h(Unread, { what: 'The logs', why: unread });
  return [
    logs.length === 0 ? h('p', { class: 'calm' }, 'No container has a log.') : null,
    logs.map((log) => h(Log, { key: `${log.pod} ${log.container}`, log })),
    omitted === 0 ? null : h('p', { class: 'hint' }, `The logs of ${omitted} more containers were not read.`),
  ];
}

function Log({ log: { pod, container, previous, lines, unread } }: { readonly log: ContainerLog }) {
  const name = `${pod}, container ${container}`;
  return h(
    'div',
    { class: 'log' },
    h(
      'h3',
      { class: 'text' },
      name,
      previous ? h('span', { class: 'word degraded' }, ' before its last restart') : null,
    ),
    unread === undefined
      ? h(
          'pre',
          { class: 'manifest', tabIndex: 0, 'aria-label': `Last lines of ${name}` },
          lines.length === 0 ? 'It has printed nothing.' : lines.join('\n'),
        )
      : h(Unread, { what: 'The log', why: unread }),
  );
}
