// Renders the calls and errors of a server per minute, by its proxies' metrics.

import { h } from 'preact';
import { Section, Table, Unread } from '#std/page/shared/kit/section.ts';
import type { Rate, Traffic } from '../../../../../run/fleet-state/pods/format.ts';
import type { Answer } from '../../api.ts';
import { roughDuration } from '../../times.ts';
import type { ResourceReadings } from './readings-format.ts';

export function Calls({ answer }: { readonly answer: Answer<ResourceReadings> }) {
  const { traffic, pods, unread } = answer.ok ? answer.body : { traffic: undefined, pods: [], unread: answer.says };
  if (traffic === undefined && pods.length === 0 && unread === undefined) return null;
  return h(
    Section,
    { title: 'Calls' },
    unread === undefined ? null : h(Unread, { what: 'The metrics', why: unread }),
    pods.map(({ pod, why }) => h(Unread, { key: pod, what: `The metrics of ${pod}`, why })),
    traffic === undefined ? null : h(Numbers, { traffic }),
  );
}

function Numbers({ traffic }: { readonly traffic: Traffic }) {
  const { calls, errors, refusals, open, tools, errorTypes, pods, seconds, sinceStart } = traffic;
  const refused = refusals.reduce((sum, { perMinute }) => sum + perMinute, 0);
  const over = sinceStart
    ? `since it started, ${roughDuration(seconds)} ago`
    : `over the last ${roughDuration(seconds)}`;
  return [
    h(
      'dl',
      { class: 'numbers' },
      number('Requests a minute', calls.perMinute, `${calls.total.toLocaleString('en')} in all`),
      number('Errors a minute', errors.perMinute, `${errors.total.toLocaleString('en')} in all`, errors.perMinute > 0),
      number(
        'Refused a minute',
        Math.round(refused * 10) / 10,
        refusals.length === 0 ? 'none so far' : 'by the gate',
        refused > 0,
      ),
      number('Open now', open, 'requests and streams'),
    ),
    h('p', { class: 'hint' }, `${pods === 1 ? 'One pod' : `${pods} pods`}, ${over}.`),
    tools.length === 0
      ? null
      : h(Table, {
          label: 'Calls by tool',
          head: ['Tool', 'A minute', 'In all', 'Errors', 'Mean time'],
          numbers: 4,
          rows: tools.map(({ name, perMinute, total, errors: failed, meanMs }) => [
            h('code', null, name),
            perMinute,
            total.toLocaleString('en'),
            failed === 0 ? '0' : h('b', { class: 'problem' }, failed.toLocaleString('en')),
            `${meanMs} ms`,
          ]),
        }),
    h(Reasons, {
      rows: [
        ...errorTypes.map(({ type, ...rate }) => ({ name: type, what: 'error', ...rate })),
        ...refusals.map(({ reason, ...rate }) => ({ name: reason, what: 'refused', ...rate })),
      ],
    }),
  ];
}

function Reasons({ rows }: { readonly rows: readonly (Rate & { readonly name: string; readonly what: string })[] }) {
  if (rows.length === 0) return null;
  return h(Table, {
    label: 'Errors and refusals of callers',
    head: ['Errors of callers', 'Kind', 'A minute', 'In all'],
    numbers: 2,
    rows: rows.map(({ name, what, perMinute, total }) => [
      h('code', null, name),
      what,
      perMinute,
      total.toLocaleString('en'),
    ]),
  });
}

function number(name: string, value: number, more: string, isBad = false) {
  return h(
    'div',
    { key: name },
    h('dt', null, name),
    h(
      'dd',
      null,
      h('b', { class: isBad ? 'problem' : '' }, value.toLocaleString('en')),
      h('span', { class: 'soft' }, ` ${more}`),
    ),
  );
}
