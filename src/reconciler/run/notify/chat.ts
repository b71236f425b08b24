// Creates the message about a run. A later step converts it to the format of a chat. The message lists changes,
// commits, and waiting approvals with their commands. It contains only names, codes and counts, because texts of
// problems may quote manifests.

import { countText } from '#std/words/count-text.ts';
import { textOfWait } from '#std/words/wait-text.ts';
import type { RunRecord } from '../history/ports.ts';
import { isWithoutCommits } from './notices.ts';
import { CHANGE_ACTIONS, type ChatItem, type ChatMessage, type ChatSection, type Notice } from './ports.ts';
import { addChanges } from './unsent.ts';

export interface ChatOptions {
  readonly instance: string;
  /** Returns the URL of a commit's web page; undefined if the repository has no known web page. */
  readonly commitUrl: (source: string, commit: string) => string | undefined;
  readonly page?: string;
  /** Names of kinds that lists show first. Most objects of other kinds are children of objects of these kinds. */
  readonly firstKinds: ReadonlySet<string>;
}

/** Maximum number of approvals that get a section each. */
const APPROVALS_MAX = 10;

/**
 * Returns the message. undefined if people need no message: the run only read another commit, and the previous run was
 * reported as a success.
 */
export function chatMessageOf(notice: Notice, options: ChatOptions): ChatMessage | undefined {
  const { record, before } = notice;
  const { instance, commitUrl, page, firstKinds } = options;
  const sections = [
    commitSection(record, commitUrl),
    changeSection(notice, firstKinds),
    ...approvalSections(record, firstKinds),
    waitSection(record),
    problemSection(record),
    stuckSection(record),
    listSection('in phase Failed', record.unready),
    driftSection(record),
    listSection(
      'rolled back',
      record.pinned.map(({ source, good }) => `${source} stays at ${good.slice(0, COMMIT_SHOWN)}`),
    ),
  ].filter((each) => each.items.length > 0 || each.command !== undefined);
  const isQuiet = notice.state === 'success' && sections.every(({ title }) => title === COMMITS);
  if (isQuiet && before === 'success') return undefined;
  const message = { mood: MOODS[notice.state], headline: `${instance}: ${headlineOf(notice)}`, sections };
  return page === undefined ? message : { ...message, page };
}

const MOODS = { success: 'good', pending: 'waiting', failure: 'bad' } as const;

function headlineOf({ state, before, record }: Notice): string {
  switch (state) {
    case 'success':
      return `everything is ${asDeclared(record)}${before === 'failure' ? ' again' : ''}`;
    case 'pending':
      return pendingHeadline(record);
    case 'failure':
      return isWithoutCommits(record) && record.failures.length > 0
        ? 'a run failed'
        : `not everything is ${asDeclared(record)}`;
  }
}

function pendingHeadline({ state, waits = [] }: RunRecord): string {
  if (state === 'waiting') return 'changes wait for approval';
  return waits.length === 0 ? 'changes are applied and not ready yet' : waitTitle(waits.length);
}

/**
 * Returns the origin of the declarations, for the headline. An instance without sources reads only custom resources.
 */
function asDeclared(record: RunRecord): string {
  return isWithoutCommits(record) ? 'as the custom resources declare' : 'as Git declares';
}

function waitTitle(count: number): string {
  return countText(count, 'source waits for another one', 'sources wait for others');
}

/** Returns the section about waiting sources. Reasons of the waits are left out, because they quote statuses. */
function waitSection({ waits = [] }: RunRecord): ChatSection {
  return listSection(waitTitle(waits.length), waits.map(textOfWait));
}

const COMMITS = 'Commits';
const COMMIT_SHOWN = 10;

function commitSection({ commits }: RunRecord, commitUrl: ChatOptions['commitUrl']): ChatSection {
  const items = Object.entries(commits).map(([source, commit]): ChatItem => {
    const text = `${source} at ${commit.slice(0, COMMIT_SHOWN)}`;
    const url = commitUrl(source, commit);
    return url === undefined ? { text } : { text, url };
  });
  return { title: COMMITS, items };
}

/** Returns the section about changes, including the changes of earlier runs whose message was not delivered. */
function changeSection({ record, unsent }: Notice, firstKinds: ReadonlySet<string>): ChatSection {
  const { summary, outcomes = [] } = addChanges(unsent, record) ?? {};
  const counts = CHANGE_ACTIONS.filter((action) => (summary?.[action] ?? 0) > 0);
  return listSection(
    counts.map((action) => `${summary?.[action]} ${action}`).join(', '),
    sortByKind(outcomes, ({ resource }) => resource, firstKinds).map(({ action, resource }) => `${action} ${resource}`),
  );
}

function approvalSections({ approvals = [] }: RunRecord, firstKinds: ReadonlySet<string>): readonly ChatSection[] {
  const shown = approvals.slice(0, APPROVALS_MAX).map(({ source, hash, deletions }): ChatSection => {
    const what = source === '' ? 'deletion' : `deletion of source ${source}`;
    const whats = source === '' ? 'deletions' : `deletions of source ${source}`;
    const title =
      deletions.length === 0
        ? 'All changes wait for approval'
        : countText(deletions.length, `${what} waits for approval`, `${whats} wait for approval`);
    return {
      ...listSection(
        title,
        sortByKind(deletions, (id) => id, firstKinds),
      ),
      command: `skep approve ${hash}`,
    };
  });
  const more = approvals.length - shown.length;
  return more === 0
    ? shown
    : [...shown, { title: `${more} more lists wait for approval`, items: [], command: 'skep status' }];
}

/** Sorts items of `firstKinds` before all other items. `nameOf` returns `namespace/Kind/name`. */
function sortByKind<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  firstKinds: ReadonlySet<string>,
): readonly T[] {
  const isFirst = (item: T): boolean => firstKinds.has(nameOf(item).split('/').at(-2) ?? '');
  return [...items.filter(isFirst), ...items.filter((item) => !isFirst(item))];
}

function problemSection({ problems, failures }: RunRecord): ChatSection {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const items = errors.map(({ code, resource, file, line }) => {
    const place = file === undefined ? [] : [line === undefined ? file : `${file}:${line}`];
    return [code, ...(resource === undefined ? [] : [resource]), ...place].join(', ');
  });
  const all = [...items, ...failures.map(({ code }) => code)];
  return listSection(countText(all.length, 'problem'), all);
}

/** Returns the section about changes that were not made, for example because an image is unsigned. */
function stuckSection({ outcomes }: RunRecord): ChatSection {
  const stuck = outcomes.filter(({ action }) => action === 'failed' || action === 'held');
  return listSection(
    countText(stuck.length, 'change was not made', 'changes were not made'),
    stuck.map(({ resource, error }) => (error === undefined ? resource : `${resource} (${error.code})`)),
  );
}

/**
 * Returns the section about drifted servers. The names of their tools are left out, because the servers choose them.
 */
function driftSection({ drifted = [] }: RunRecord): ChatSection {
  const names = drifted.map(({ resource }) => resource);
  const list = listSection('servers whose tools are not as they were reviewed', names);
  return names.length === 0 ? list : { ...list, command: 'skep lock --diff' };
}

function listSection(title: string, texts: readonly string[]): ChatSection {
  return { title, items: texts.map((text) => ({ text })) };
}
