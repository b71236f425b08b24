// Summarises a run as a state and one line of text: for the whole instance, for a chat, or for one commit.

import { digest } from '#std/hash.ts';
import { countText } from '#std/words/count-text.ts';
import type { RunRecord } from '../history/ports.ts';
import { NOTHING_NEW, type Notice, type NoticeState } from './ports.ts';

const DESCRIPTION_MAX = 140;

export function noticeOfRun(record: RunRecord): Omit<Notice, 'before'> {
  const commits = Object.entries(record.commits).map(([source, commit]) => `${source}@${commit}`);
  const about = isWithoutCommits(record) ? aboutWithoutCommits(record) : commits.sort().join(' ');
  return { state: noticeState(record), about: withDrift(about, record), description: descriptionOf(record), record };
}

/** Adds a digest of the drifted servers to the subject: changed tool definitions are news even without a commit. */
function withDrift(about: string, { drifted = [] }: RunRecord): string {
  return drifted.length === 0 ? about : [...(about === NOTHING_NEW ? [] : [about]), digest(drifted)].join(' ');
}

/** Returns true if the instance has no sources, or if the run read none of its sources. */
export function isWithoutCommits({ commits }: RunRecord): boolean {
  return Object.keys(commits).length === 0;
}

/** Returns the subject of a run without commits, from its changes, problems, approvals and failures. */
function aboutWithoutCommits({ outcomes, problems, failures, approvals = [] }: RunRecord): string {
  const news = [
    ...outcomes
      .filter(({ action }) => action !== 'unchanged')
      .map(({ action, resource, diff = [] }) => [action, resource, diff]),
    ...problems.filter(({ severity }) => severity === 'error').map(({ code, resource = '' }) => [code, resource]),
    ...approvals.map(({ hash }) => [hash]),
  ];
  if (news.length > 0) return digest(news);
  return failures.length > 0 ? '' : NOTHING_NEW;
}

/**
 * Returns the notice for a chat. Its subject includes the waiting approvals: if a list changes, the approval command in
 * the last message no longer works.
 */
export function noticeOfChat(record: RunRecord): Omit<Notice, 'before'> {
  const notice = noticeOfRun(record);
  const hashes = (record.approvals ?? []).map(({ hash }) => hash).sort();
  return { ...notice, about: [notice.about, ...hashes].join(' ') };
}

/**
 * Returns the notice for the commit of a source. After a rollback, the notice is about the commit that the rollback
 * excludes.
 */
export function noticeOfCommit(record: RunRecord, source: string): Omit<Notice, 'before'> | undefined {
  const pin = record.pinned.find((each) => each.source === source);
  if (pin !== undefined) {
    const description = `rolled back to ${pin.good.slice(0, 10)}`;
    return { state: 'failure', about: pin.bad, description, record };
  }
  const commit = record.commits[source];
  // A failed run without problems, for example because a server did not respond, says nothing about the commit.
  if (commit === undefined || isBlameless(record)) return undefined;
  return { state: noticeState(record), about: commit, description: descriptionOf(record), record };
}

function noticeState({ state }: RunRecord): NoticeState {
  switch (state) {
    case 'succeeded':
      return 'success';
    case 'progressing':
    case 'waiting':
      return 'pending';
    case 'not-ready':
    case 'failed':
      return 'failure';
  }
}

function isBlameless(record: RunRecord): boolean {
  const { state, failures, problems, summary, catalogue, unready } = record;
  const blamed =
    problems.some(({ severity }) => severity === 'error') ||
    summary.failed > 0 ||
    unready.length > 0 ||
    catalogue.some(({ action }) => action === 'failed');
  return state === 'failed' && failures.length > 0 && !blamed;
}

function descriptionOf(record: RunRecord): string {
  const { summary, problems, failures, approvals = [], waits = [], unready, drifted = [], state } = record;
  const codes = [
    ...new Set([...problems.filter(({ severity }) => severity === 'error'), ...failures].map(({ code }) => code)),
  ];
  const counts = (['created', 'configured', 'deleted', 'held', 'failed'] as const)
    .filter((action) => summary[action] > 0)
    .map((action) => `${summary[action]} ${action}`);
  const parts = [
    ...(codes.length === 0 ? [] : [`problems: ${codes.join(', ')}`]),
    ...approvals.map(({ hash, deletions }) => {
      return `${deletions.length === 0 ? 'changes' : 'deletions'} wait: skep approve ${hash}`;
    }),
    ...(unready.length === 0 ? [] : [`${unready.length} in phase Failed`]),
    ...(drifted.length === 0 ? [] : [`${countText(drifted.length, 'server')} not as reviewed`]),
    ...waits.map(({ source, for: needed }) => `${source} waits for ${needed}`),
    ...(state === 'progressing' && waits.length === 0 ? ['not ready yet'] : []),
    ...counts,
  ];
  const text = parts.length === 0 ? 'as declared' : parts.join('; ');
  return text.length <= DESCRIPTION_MAX ? text : `${text.slice(0, DESCRIPTION_MAX - 1)}…`;
}
