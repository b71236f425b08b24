// Shows one run: a line with its end, and its details once it is opened.

import { button, element } from '#std/page/shared/elements.ts';
import type { Api, Difference, Run, RunInShort } from './api.ts';
import { section } from './dom.ts';

/** `opened`: the run is shown in full at once. */
export function runView(api: Api, run: RunInShort, opened: boolean, announce: (text: string) => void): HTMLElement {
  const inside = element('div', { class: 'inside' });
  const details = element(
    'details',
    {},
    element(
      'summary',
      {},
      element('span', { class: `state ${run.state}` }, run.state),
      element('time', { datetime: run.finishedAt }, new Date(run.finishedAt).toLocaleString()),
      element('span', { class: 'what' }, whatOf(run)),
      element('span', { class: 'soft text' }, commitsOf(run)),
    ),
    inside,
  );
  details.addEventListener('toggle', () => {
    if (details.open && inside.childElementCount === 0) void fill(api, run.id, inside, announce);
  });
  details.open = opened;
  return details;
}

async function fill(api: Api, id: string, inside: HTMLElement, announce: (text: string) => void): Promise<void> {
  inside.replaceChildren(element('p', { class: 'hint' }, 'Loading'));
  const answer = await api.run(id);
  if (answer.ok) inside.replaceChildren(...inFull(answer.body.run, announce));
  else {
    const again = button('Try again', () => void fill(api, id, inside, announce));
    inside.replaceChildren(element('p', { class: 'notice' }, `The run cannot be shown: ${answer.says}. `, again));
  }
}

function inFull(run: Run, announce: (text: string) => void): readonly Node[] {
  const { approvals = [], pinned } = run;
  const short = run.id.slice(0, 8);
  const seconds = (Date.parse(run.finishedAt) - Date.parse(run.startedAt)) / 1000;
  const waiting = new Set(approvals.flatMap(({ deletions }) => deletions));
  const held = run.held.filter(({ resource }) => !waiting.has(resource));
  const all = [
    element(
      'p',
      { class: 'hint' },
      `Run ${run.id}, ${seconds.toFixed(1)} s.`,
      // A rollback to a run that read no source is not possible.
      ...(Object.keys(run.commits).length === 0 ? [] : [' To go back to it: ', command(`rollback ${short}`, announce)]),
    ),
    ...pinned.map((each) => pinnedNotice(each, announce)),
    ...approvals.map((each) => approvalNotice(each, announce)),
    section(
      'Failures',
      run.failures.map(({ code, message }) => element('span', { class: 'problem' }, `${code}: ${message}`)),
    ),
    section('Problems', run.problems.map(problemLine)),
    section(
      'Kept unchanged',
      held.map(({ resource, reason }) => `${resource}: ${reason}`),
    ),
    ...notReadySections(run),
    section(
      'Not as they were reviewed',
      (run.drifted ?? []).map(({ resource, why }) => `${resource}: ${why}`),
    ),
    section('Changes', run.outcomes.map(outcomeLine)),
    section(
      'Not kept',
      Object.entries(run.omitted).map(([name, count]) => `${count} more ${name}`),
    ),
  ];
  return all.filter((each) => each !== undefined);
}

function notReadySections({ unready, notReady }: Run): readonly (HTMLElement | undefined)[] {
  const lines = (states: readonly string[]) =>
    notReady?.filter(({ state }) => states.includes(state)).map(({ resource, why }) => `${resource}: ${why}`);
  return [
    section('In phase Failed', lines(['failed']) ?? unready),
    section('Not ready when the run ended', lines(['late', 'progressing']) ?? []),
    section('Not run here', lines(['not-run']) ?? []),
  ];
}

function pinnedNotice({ source, good, bad }: Run['pinned'][number], announce: (text: string) => void): HTMLElement {
  return element(
    'p',
    { class: 'notice' },
    `Source ${source} was kept at ${good.slice(0, 10)} by a rollback; ${bad.slice(0, 10)} is not applied until a newer commit comes. To end that: `,
    command(`rollback --clear --source ${source}`, announce),
  );
}

function approvalNotice(
  { source, hash, reasons, deletions }: NonNullable<Run['approvals']>[number],
  announce: (text: string) => void,
): HTMLElement {
  return element(
    'div',
    { class: 'notice' },
    element(
      'p',
      {},
      `${deletionsOf(deletions.length)} for approval (source ${source}): ${reasons.join('; ')}. To delete exactly these: `,
      command(`approve ${hash}`, announce),
    ),
    section('They would be deleted', deletions),
  );
}

function problemLine({ code, severity, message, file, line, resource }: Run['problems'][number]): HTMLElement {
  const where = file === undefined ? '' : `${file}:${line}: `;
  const whose = resource === undefined ? '' : ` (${resource})`;
  return element('span', severity === 'error' ? { class: 'problem' } : {}, `${where}${code}: ${message}${whose}`);
}

function outcomeLine({ action, resource, error, diff = [] }: Run['outcomes'][number]): HTMLElement {
  const reason = error === undefined ? '' : `: ${error.message} [${error.code}]`;
  const head = element('span', error === undefined ? {} : { class: 'problem' }, `${resource} ${action}${reason}`);
  if (diff.length === 0) return head;
  return element(
    'div',
    {},
    head,
    element('ul', { class: 'diff', role: 'list' }, ...diff.map((each) => element('li', {}, differenceLine(each)))),
  );
}

function differenceLine({ path, before, after, long }: Difference): string {
  return long === true ? `${path}: changed (long)` : `${path}: ${formatValue(before)} → ${formatValue(after)}`;
}

function formatValue(value: unknown): string {
  return value === undefined ? '(none)' : JSON.stringify(value);
}

/**
 * Returns a command for the reader's own terminal: the page itself changes nothing. `words`: words after the name of
 * the program.
 */
function command(words: string, announce: (text: string) => void): HTMLElement {
  const text = decodeURIComponent(document.documentElement.dataset.command ?? '').replace('WORDS', () => words);
  const copy = button(
    'Copy',
    () => {
      navigator.clipboard.writeText(text).then(
        () => announce('copied'),
        () => announce('the browser does not let the page copy: select the command'),
      );
    },
    { class: 'small' },
  );
  copy.setAttribute('aria-label', `Copy ${text}`);
  return element('span', {}, element('code', {}, text), ' ', copy);
}

/** Returns the number of resources that became ready after the run, if a later run found that out. */
function completionOf({ completed, finishedAt }: RunInShort): readonly string[] {
  if (completed === undefined || completed.ready === 0) return [];
  const seconds = Math.ceil((Date.parse(completed.at) - Date.parse(finishedAt)) / 1000);
  return [`${completed.ready} ready ${seconds} s later`];
}

function whatOf(run: RunInShort): string {
  const { summary, approvals = [], failures, unready } = run;
  const counts = ['created', 'configured', 'deleted', 'held', 'failed'].flatMap((action) => {
    const count = summary[action] ?? 0;
    return count === 0 ? [] : [`${count} ${action}`];
  });
  const parts = [
    ...counts,
    ...approvals.map(({ deletions }) => deletionsOf(deletions.length)),
    ...failures.map(({ code }) => code),
    ...(unready.length === 0 ? [] : [`${unready.length} in phase Failed`]),
    ...completionOf(run),
  ];
  return parts.length === 0 ? 'nothing changed' : parts.join(', ');
}

function deletionsOf(count: number): string {
  return count === 1 ? '1 deletion waits' : `${count} deletions wait`;
}

function commitsOf({ commits }: RunInShort): string {
  return Object.entries(commits)
    .map(([source, commit]) => `${source}@${commit.slice(0, 10)}`)
    .join(' ');
}
