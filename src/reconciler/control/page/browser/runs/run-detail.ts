// Renders one run in full: approvals that wait for a person, the way back to the run, failures, and the changes by server.

import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FleetState } from '../../../../run/fleet-state/format.ts';
import type { RunRecord } from '../../../../run/history/ports.ts';
import type { Answer, Api, RunInShort } from '../api.ts';
import { Command } from '../command.ts';
import { WAITING } from '../route.ts';
import { TitledList } from '../titled-list.ts';
import { RollbackButton } from '../waiting/act-buttons.ts';
import { Changes } from './changes.ts';

interface Props {
  readonly api: Api;
  readonly fleet: FleetState;
  readonly run: RunInShort;
}

export function RunDetail({ api, fleet, run }: Props) {
  const [answer, setAnswer] = useState<Answer<{ readonly run: RunRecord }>>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    void api.run(run.id).then((next) => isCurrent && setAnswer(next));
    return () => {
      isCurrent = false;
    };
    // A progressing run gets its completion from a later run.
  }, [api, run.id, run.state, attempt]);
  if (answer === undefined) return h('p', { class: 'inside hint' }, 'Loading');
  if (!answer.ok) {
    const again = h('button', { type: 'button', onClick: () => setAttempt(attempt + 1) }, 'Try again');
    return h('p', { class: 'inside notice' }, `The run cannot be shown: ${answer.says}. `, again);
  }
  return h('div', { class: 'inside' }, h(InFull, { run: answer.body.run, fleet }));
}

/** Renders the button and the command that go back to the run. */
function WayBack({ run: { id, commits } }: { readonly run: RunRecord }) {
  const [said, say] = useState('');
  if (Object.keys(commits).length === 0) return h('p', { class: 'hint' }, `Run ${id}.`);
  return [
    h('p', { class: 'hint' }, `Run ${id}. To go back to it: `, h(Command, { words: `rollback ${id.slice(0, 8)}` })),
    h(RollbackButton, { run: id, say }),
    h('p', { class: 'said', role: 'status' }, said),
  ];
}

function InFull({ run, fleet }: { readonly run: RunRecord; readonly fleet: FleetState }) {
  const { approvals = [], pinned, failures, problems, drifted = [], outcomes, omitted } = run;
  const waiting = new Set(approvals.flatMap(({ deletions }) => deletions));
  const kept = run.held.filter(({ resource }) => !waiting.has(resource));
  return [
    h(WayBack, { run }),
    ...pinned.map((each) => h(Pinned, { pin: each })),
    ...approvals.map((each) => h(Approval, { approval: each })),
    h(TitledList, {
      title: 'Failures',
      items: failures.map(({ code, message }) => h('span', { class: 'problem' }, `${code}: ${message}`)),
    }),
    h(TitledList, { title: 'Problems', items: problems.map(problemLine) }),
    h(TitledList, { title: 'Kept unchanged', items: kept.map(({ resource, reason }) => `${resource}: ${reason}`) }),
    ...notReadyLists(run),
    h(TitledList, {
      title: 'Not as they were reviewed',
      items: drifted.map(({ resource, why }) => `${resource}: ${why}`),
    }),
    h(Changes, { outcomes, entries: fleet.entries }),
    h(TitledList, {
      title: 'Not kept',
      items: Object.entries(omitted).map(([name, count]) => `${count} more ${name}`),
    }),
  ];
}

function notReadyLists({ unready, notReady }: RunRecord): readonly ComponentChildren[] {
  const lines = (states: readonly string[]) =>
    notReady?.filter(({ state }) => states.includes(state)).map(({ resource, why }) => `${resource}: ${why}`);
  return [
    h(TitledList, { title: 'In phase Failed', items: lines(['failed']) ?? unready }),
    h(TitledList, { title: 'Not ready when the run ended', items: lines(['late', 'progressing']) ?? [] }),
    h(TitledList, { title: 'Not run here', items: lines(['not-run']) ?? [] }),
  ];
}

function Pinned({ pin: { source, good, bad } }: { readonly pin: RunRecord['pinned'][number] }) {
  const text = `Source ${source} was kept at ${good.slice(0, 10)} by a rollback; ${bad.slice(0, 10)} is not applied until a newer commit comes. To end that: `;
  return h('p', { class: 'notice' }, text, h(Command, { words: `rollback --clear --source ${source}` }));
}

function Approval({ approval }: { readonly approval: NonNullable<RunRecord['approvals']>[number] }) {
  const { source, hash, reasons, deletions } = approval;
  return h(
    'div',
    { class: 'notice' },
    h(
      'p',
      null,
      `${deletionsText(deletions.length)} for approval (source ${source}): ${reasons.join('; ')}. To delete exactly these: `,
      h(Command, { words: `approve ${hash}` }),
      ' or in ',
      h('a', { href: WAITING }, 'Waiting'),
      '.',
    ),
    h(TitledList, { title: 'To be deleted', items: deletions }),
  );
}

function problemLine({ code, severity, message, file, line, resource }: RunRecord['problems'][number]) {
  const at = file === undefined ? '' : `${file}:${line}: `;
  const whose = resource === undefined ? '' : ` (${resource})`;
  return h('span', { class: severity === 'error' ? 'problem' : '' }, `${at}${code}: ${message}${whose}`);
}

export function deletionsText(count: number): string {
  return count === 1 ? '1 deletion waits' : `${count} deletions wait`;
}
