// Renders the runs as a timeline: changes, duration and waiting approvals of each run. The newest run is open.

import { h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FleetState } from '../../../../run/fleet-state/format.ts';
import type { Answer, Api, RunInShort } from '../api.ts';
import type { Live } from '../live.ts';
import { durationText, seconds, Time } from '../times.ts';
import { deletionsText, RunDetail } from './run-detail.ts';

interface Props {
  readonly api: Api;
  readonly fleet: FleetState;
  /** Id of the run that the address names, or the start of the id. */
  readonly open: string | undefined;
  readonly now: number;
  readonly revision: number;
  readonly live: Live;
}

export function RunsView({ api, fleet, open, now, revision, live }: Props) {
  const [answer, setAnswer] = useState<Answer<{ readonly runs: readonly RunInShort[] }>>();
  useEffect(() => {
    let isCurrent = true;
    void api.runs().then((next) => isCurrent && setAnswer(next));
    return () => {
      isCurrent = false;
    };
  }, [api, revision]);
  const runs = answer?.ok === true ? answer.body.runs : [];
  const [chosen, choose] = useState<RunState>();
  const shown = chosen === undefined ? runs : runs.filter(({ state }) => state === chosen);
  const longest = useMemo(() => Math.max(0.1, ...runs.map((run) => seconds(run.startedAt, run.finishedAt))), [runs]);
  const isListed = open !== undefined && runs.some(({ id }) => id.startsWith(open));
  return h(
    'main',
    { class: 'page', tabIndex: -1 },
    h('h1', null, titleOf(answer)),
    answer?.ok === false
      ? h('p', { class: 'banner', role: 'alert' }, `The runs cannot be shown: ${answer.says}.`)
      : null,
    h('p', { class: 'hint' }, 'A run is listed if it changed something, or if its result differs from the run before.'),
    h(RunFilters, { runs, chosen, choose }),
    open === undefined || isListed || answer === undefined
      ? null
      : h(
          'p',
          { class: 'notice text' },
          `Run ${open} is not listed: its result equals the result of the run before, or the run is no longer stored.`,
        ),
    h(
      'ol',
      { class: 'timeline', role: 'list' },
      live.running
        ? h('li', { class: 'run under-way' }, h('span', { class: 'dot', 'aria-hidden': true }), 'A run is under way')
        : null,
      shown.map((run, index) =>
        h(RunLine, {
          key: run.id,
          api,
          fleet,
          run,
          now,
          longest,
          opened: isListed ? run.id.startsWith(open) : index === 0,
        }),
      ),
    ),
  );
}

function titleOf(answer: Answer<{ readonly runs: readonly RunInShort[] }> | undefined): string {
  if (answer === undefined) return 'Loading the runs';
  if (!answer.ok) return 'Runs';
  const { length } = answer.body.runs;
  return length === 0 ? 'No run has been recorded yet' : length === 1 ? 'The last run' : `The last ${length} runs`;
}

type RunState = RunInShort['state'];

interface FilterProps {
  readonly runs: readonly RunInShort[];
  readonly chosen: RunState | undefined;
  readonly choose: (state: RunState | undefined) => void;
}

/** Renders one button for each result that the runs have; nothing if all have the same. */
function RunFilters({ runs, chosen, choose }: FilterProps) {
  const states = [...Map.groupBy(runs, ({ state }) => state)];
  if (states.length < 2 && chosen === undefined) return null;
  return h(
    'div',
    { class: 'states', role: 'group', 'aria-label': 'Filter by result' },
    states.map(([state, own]) =>
      h(
        'button',
        {
          ...{ key: state, type: 'button', class: 'chip', 'aria-pressed': chosen === state },
          onClick: () => choose(chosen === state ? undefined : state),
        },
        h('b', null, own.length),
        ` ${WORDS[state] ?? state}`,
      ),
    ),
  );
}

interface LineProps {
  readonly api: Api;
  readonly fleet: FleetState;
  readonly run: RunInShort;
  readonly now: number;
  /** Duration of the longest run in seconds. */
  readonly longest: number;
  readonly opened: boolean;
}

function RunLine({ api, fleet, run, now, longest, opened }: LineProps) {
  const [isOpen, setOpen] = useState(opened);
  useEffect(() => setOpen(opened), [opened]);
  const took = seconds(run.startedAt, run.finishedAt);
  return h(
    'li',
    { class: `run ${run.state}` },
    h(
      'details',
      { open: isOpen, onToggle: (event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open) },
      h(
        'summary',
        null,
        h('span', { class: 'dot', 'aria-hidden': true }),
        h('span', { class: 'state' }, WORDS[run.state] ?? run.state),
        h('span', { class: 'what' }, whatOf(run)),
        h('span', { class: 'soft text commits' }, commitsOf(run)),
        h(
          'span',
          { class: 'soft took' },
          h(
            'span',
            { class: 'lane', 'aria-hidden': true },
            h('span', { style: { width: `${Math.max(2, (100 * took) / longest)}%` } }),
          ),
          durationText(took),
        ),
        h('span', { class: 'soft' }, h(Time, { at: run.finishedAt, now })),
      ),
      isOpen ? h(RunDetail, { api, fleet, run }) : null,
    ),
  );
}

const WORDS: Readonly<Record<RunInShort['state'], string>> = {
  succeeded: 'Succeeded',
  progressing: 'Progressing',
  waiting: 'Waiting',
  'not-ready': 'Not ready',
  failed: 'Failed',
};

/** Returns the number of resources that became ready after the run, if a later run recorded it. */
function completionOf({ completed, finishedAt }: RunInShort): readonly string[] {
  if (completed === undefined || completed.ready === 0) return [];
  return [`${completed.ready} ready ${Math.ceil(seconds(finishedAt, completed.at))} s later`];
}

function whatOf(run: RunInShort): string {
  const { summary, approvals = [], failures, unready } = run;
  const counts = (['created', 'configured', 'deleted', 'held', 'failed'] as const).flatMap((action) => {
    const count = summary[action] ?? 0;
    return count === 0 ? [] : [`${count} ${action === 'held' ? 'kept unchanged' : action}`];
  });
  const parts = [
    ...counts,
    ...approvals.map(({ deletions }) => deletionsText(deletions.length)),
    ...failures.map(({ code }) => code),
    ...(unready.length === 0 ? [] : [`${unready.length} in phase Failed`]),
    ...completionOf(run),
  ];
  return parts.length === 0 ? 'nothing changed' : parts.join(', ');
}

function commitsOf({ commits }: RunInShort): string {
  return Object.entries(commits)
    .map(([source, commit]) => `${source}@${commit.slice(0, 10)}`)
    .join(' ');
}
