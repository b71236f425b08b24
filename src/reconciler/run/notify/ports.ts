// Defines the channels that are notified of runs, and the store of their last notices.

import type { RunRecord } from '../history/ports.ts';

export type NoticeState = 'pending' | 'success' | 'failure';

/** Subject of a run without commits that changed nothing. */
export const NOTHING_NEW = 'nothing';

export interface Notice {
  readonly state: NoticeState;
  /**
   * Subject of the notice: a commit id, all commits of the run, or a digest of the changes of a run without commits.
   * The subject of a chat notice also has the waiting approvals. A new subject is news, except `NOTHING_NEW`.
   */
  readonly about: string;
  /** Line of at most 140 characters with counts and codes. It contains no text from manifests or servers. */
  readonly description: string;
  readonly record: RunRecord;
  /** State of the previous notice; absent for the first notice. */
  readonly before?: NoticeState;
  /** Changes of earlier runs whose notices were not delivered. */
  readonly unsent?: UnsentChanges;
}

export interface UnsentChanges {
  readonly summary: Readonly<Record<ChangeAction, number>>;
  /** First changes of the runs whose notices were not delivered, up to a maximum number. */
  readonly outcomes: readonly { readonly action: ChangeAction; readonly resource: string }[];
}

export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

export const CHANGE_ACTIONS = ['created', 'configured', 'deleted'] as const;

export interface Channel {
  readonly key: string;
  /** Returns the notice for this channel; undefined if the run does not concern the channel. */
  readonly notice: (record: RunRecord) => Omit<Notice, 'before'> | undefined;
  /** Sends the notice within a bounded time. Throws Failure. */
  readonly send: (notice: Notice) => Promise<void>;
  /**
   * If set, notices of the channel list changes. The changes of an undelivered notice are then part of the next notice.
   */
  readonly namesChanges?: true;
}

export interface LastNotice {
  /** State in the last delivered notice; absent before the first delivery. */
  readonly state?: NoticeState;
  readonly about: string;
  /** Times of the last notices, in RFC 3339. */
  readonly at: readonly string[];
  /** Number of successive notices with the same subject. */
  readonly times: number;
  readonly unsent?: UnsentChanges;
}

export interface Memory {
  /** Returns the last notices by key of the channel. Throws Failure. */
  read(): Promise<ReadonlyMap<string, LastNotice>>;
  /** Replaces all stored notices. Throws Failure. */
  write(reported: ReadonlyMap<string, LastNotice>): Promise<void>;
}

/** Message for people, before it is converted to the format of a chat. */
export interface ChatMessage {
  readonly mood: 'good' | 'waiting' | 'bad';
  readonly headline: string;
  readonly sections: readonly ChatSection[];
  /** URL of a page with details. */
  readonly page?: string;
}

export interface ChatSection {
  readonly title: string;
  readonly items: readonly ChatItem[];
  /** Command that a person runs to continue. */
  readonly command?: string;
}

export interface ChatItem {
  readonly text: string;
  readonly url?: string;
}
