// Defines the channels that are notified of runs, and the store of their last notices.

import type { RunRecord } from '../history/ports.ts';

export type NoticeState = 'pending' | 'success' | 'failure';

/** Subject of a run without sources that changed nothing. */
export const NOTHING_NEW = 'nothing';

export interface Notice {
  readonly state: NoticeState;
  /**
   * Subject of the notice: a full commit id, all commits of the run, or a digest of the changes of a run without
   * sources; for chats also the waiting approvals. A changed subject is news, like a changed state, unless it becomes
   * `NOTHING_NEW`.
   */
  readonly about: string;
  /** A line of at most 140 characters with counts and codes, without texts of other authors. */
  readonly description: string;
  readonly record: RunRecord;
  /** State of the previous notice; absent for the first notice. */
  readonly before?: NoticeState;
  /** Changes of earlier runs that the channel could not be notified of. */
  readonly unsent?: UnsentChanges;
}

export interface UnsentChanges {
  /** Counts of all changes. */
  readonly summary: Readonly<Record<ChangeAction, number>>;
  /** First changes of those runs. */
  readonly outcomes: readonly { readonly action: ChangeAction; readonly resource: string }[];
}

export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** Outcomes that change an object. */
export const CHANGE_ACTIONS = ['created', 'configured', 'deleted'] as const;

export interface Channel {
  /** Identifies the channel in the store. */
  readonly key: string;
  /** Returns undefined if the run is not news for this channel. */
  readonly notice: (record: RunRecord) => Omit<Notice, 'before'> | undefined;
  /** Sends the notice within a bounded time. Throws Failure. */
  readonly send: (notice: Notice) => Promise<void>;
  /** If set, notices list the changes, so the next notice also lists the changes of an undelivered notice. */
  readonly namesChanges?: true;
}

/** The last notice that a channel got. */
export interface LastNotice {
  /** State of that notice; absent if no notice was delivered yet. */
  readonly state?: NoticeState;
  readonly about: string;
  /** Times of the last notices, RFC 3339. */
  readonly at: readonly string[];
  /** Number of notices about the same subject. */
  readonly times: number;
  readonly unsent?: UnsentChanges;
}

export interface Memory {
  /** Returns the last notices by key of the channel. Throws Failure. */
  read(): Promise<ReadonlyMap<string, LastNotice>>;
  /** Replaces the stored notices. Throws Failure. */
  write(reported: ReadonlyMap<string, LastNotice>): Promise<void>;
}

/** Message for people in a chat, before any format of a chat. */
export interface ChatMessage {
  readonly mood: 'good' | 'waiting' | 'bad';
  readonly headline: string;
  readonly sections: readonly ChatSection[];
  /** Page with details. */
  readonly page?: string;
}

export interface ChatSection {
  readonly title: string;
  readonly items: readonly ChatItem[];
  /** Command that a person types to continue. */
  readonly command?: string;
}

export interface ChatItem {
  readonly text: string;
  readonly url?: string;
}
