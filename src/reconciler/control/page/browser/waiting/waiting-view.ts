// Renders what waits for a person, with the actions that end the waiting, and the last actions.

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { More } from '#std/page/shared/kit/more.ts';
import type { FleetState } from '../../../../run/fleet-state/format.ts';
import type { WaitingList } from '../../../../run/fleet-state/waiting-format.ts';
import { useActing } from '../acting.ts';
import type { Answer } from '../api.ts';
import { resourceAddress, runAddress } from '../route.ts';
import { deletionsText } from '../runs/run-detail.ts';
import { whyNot } from '../session.ts';
import { Time } from '../times.ts';
import { TitledList } from '../titled-list.ts';
import { ApproveButton } from './act-buttons.ts';
import { ActionButton } from './action-dialog.ts';
import { Recent, Start } from './start.ts';
import { TokenForm } from './token-form.ts';
import { countWaiting, type Waiting, waitingText } from './waiting-format.ts';

interface Props {
  readonly fleet: FleetState;
  readonly waiting: Answer<Waiting> | undefined;
  readonly now: number;
}

export function WaitingView({ fleet, waiting, now }: Props) {
  const [said, say] = useState('');
  const body = waiting?.ok === true ? waiting.body : undefined;
  return h(
    'main',
    { class: 'page waits', tabIndex: -1 },
    h('h1', null, headingOf(waiting)),
    h('p', { class: 'said', role: 'status' }, said),
    waiting?.ok === false
      ? h('p', { class: 'banner', role: 'alert' }, `What waits cannot be shown: ${waiting.says}.`)
      : null,
    h(Rights, null),
    body === undefined
      ? null
      : [
          h(Paused, { waiting: body, now, say }),
          ...body.approvals.map((list) => h(Approval, { key: list.hash, list, say })),
          h(Approved, { waiting: body }),
          h(RolledBack, { waiting: body, now, say }),
          h(TitledList, {
            title: 'Sources that wait for other sources',
            items: body.sources.map((each) => `${each.source} waits for ${each.for}: ${each.reason}`),
          }),
          h(Held, { waiting: body, fleet }),
          h(Start, { fleet, say, isPaused: body.paused?.by === 'suspension' }),
          h(Recent, { actions: body.actions, now }),
        ],
  );
}

function headingOf(waiting: Answer<Waiting> | undefined): string {
  if (waiting === undefined) return 'Loading what waits';
  if (!waiting.ok) return 'Waiting';
  const count = countWaiting(waiting.body);
  return count === 0 ? 'Nothing waits for you' : waitingText(count);
}

/** Says why the reader may not act. */
function Rights() {
  const acting = useActing();
  if (acting === undefined) return null;
  const reason = whyNot(acting.session, false);
  const { namespaces, means } = acting.session;
  if (reason === undefined)
    return namespaces === undefined
      ? null
      : h('p', { class: 'hint' }, `You may act in these namespaces: ${namespaces.join(', ')}.`);
  return h('div', { class: 'notice' }, h('p', { class: 'text' }, reason), means === 'open' ? h(TokenForm, null) : null);
}

interface Said {
  readonly say: (text: string) => void;
}

function Paused({ waiting: { paused }, now, say }: Said & { readonly waiting: Waiting; readonly now: number }) {
  if (paused === undefined) return null;
  if (paused.by === 'window') {
    const until = paused.until === undefined ? '' : ` until ${new Date(paused.until).toLocaleString()}`;
    return h('div', { class: 'notice' }, h('p', null, `Nothing is written${until}: the window is ${paused.window}.`));
  }
  const { who, since, reason } = paused;
  return h(
    'div',
    { class: 'notice' },
    h(
      'p',
      { class: 'text' },
      `${who} has suspended the instance${reason === '' ? '' : `: ${reason}`} (`,
      h(Time, { at: since, now }),
      '). Runs report changes and write nothing.',
    ),
    h(ActionButton, {
      ...{ name: 'resume', input: {}, label: 'Resume', title: 'Resume the instance', confirm: 'Resume', say },
      lead: 'The next run makes all pending changes, within the limits of deletions.',
      done: 'Resumed. A run makes the pending changes now.',
      everywhere: true,
    }),
  );
}

/** Number of objects that are shown before a click. */
const STEP = 20;

function Approval({ list, say }: Said & { readonly list: WaitingList }) {
  const { source, hash, reasons, deletions, expiredAt } = list;
  const [shown, setShown] = useState(STEP);
  const owner = source === '' ? 'children of resources that people applied by hand' : `source ${source}`;
  return h(
    'section',
    { class: 'notice' },
    h('h2', null, `${deletionsText(deletions.length)} for approval: ${owner}`),
    h('p', { class: 'text' }, `${reasons.join('; ')}.`),
    expiredAt === undefined ? null : h('p', null, `An approval expired at ${new Date(expiredAt).toLocaleString()}.`),
    deletions.length === 0
      ? h(
          'p',
          null,
          `The list stands for all changes of a first run. Compare skep plan, then run skep approve ${hash}.`,
        )
      : h(
          'ul',
          { class: 'plain', role: 'list' },
          deletions.slice(0, shown).map((each) => h('li', { class: 'text', key: each.id }, deletionLine(each))),
        ),
    h(More, { left: deletions.length - shown, step: 200, more: () => setShown(shown + 200) }),
    deletions.length === 0 ? null : h(ApproveButton, { hash, say }),
  );
}

function deletionLine({ id, replaced, takes = [], mayTake = [] }: WaitingList['deletions'][number]): string {
  const others = [...takes, ...mayTake.map((kind) => `all objects of ${kind}`)];
  const also = others.length === 0 ? '' : `, and with it ${others.join(', ')}`;
  return `${id}${also}${replaced === true ? ', and it is created again' : ''}`;
}

function Approved({ waiting: { approved } }: { readonly waiting: Waiting }) {
  const items = approved.map(
    ({ source, deletions, expiresAt }) =>
      `${deletions} of source ${source}, approved until ${new Date(expiresAt).toLocaleString()}`,
  );
  return h(TitledList, { title: 'Approved deletions that a later run makes', items });
}

function RolledBack({ waiting, now, say }: Said & { readonly waiting: Waiting; readonly now: number }) {
  return h(TitledList, {
    title: 'Sources that a rollback keeps',
    items: waiting.rolledBack.map(({ source, good, bad, run, since }) => [
      `${source} stays at ${good.slice(0, 10)} instead of ${bad.slice(0, 10)}, since `,
      h(Time, { at: since, now }),
      ' (',
      h('a', { href: runAddress(run) }, `run ${run.slice(0, 8)}`),
      '). ',
      h(ActionButton, {
        ...{ name: 'follow', input: { source }, label: `Follow ${source} again`, everywhere: true, say },
        title: `Follow the branch of ${source} again`,
        lead: `The next run goes to the newest commit of ${source}, with the usual limits of deletions.`,
        confirm: 'Follow the branch',
        done: `A run follows the branch of ${source} now.`,
      }),
    ]),
  });
}

function Held({ waiting: { held, omitted }, fleet }: { readonly waiting: Waiting; readonly fleet: FleetState }) {
  const [shown, setShown] = useState(STEP);
  const known = new Set(fleet.entries.map(({ id }) => id));
  if (held.length === 0) return null;
  return [
    h(TitledList, {
      title: `Kept unchanged (${held.length + omitted})`,
      items: held
        .slice(0, shown)
        .map(({ resource, reason }) => [
          known.has(resource) ? h('a', { href: resourceAddress(resource) }, resource) : resource,
          `: ${reason}`,
        ]),
    }),
    h(More, { left: held.length - shown, step: 200, more: () => setShown(shown + 200) }),
  ];
}
