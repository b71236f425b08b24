// Who is notified of a run, and what each got last.

import type { RunRecord } from '../history/ports.ts';

export type NoticeState = 'pending' | 'success' | 'failure';

/** The subject of a run without sources that changed nothing. */
export const NOTHING_NEW = 'nothing';

export interface Notice {
  readonly state: NoticeState;
  /**
   * One full commit id, all commits of the run, or a digest of what a run without sources did. A change of it is news like one of the
   * state, unless it becomes `NOTHING_NEW`.
   */
  readonly about: string;
  /** One line of at most 140 characters: counts and codes, no texts of others. */
  readonly description: string;
  readonly record: RunRecord;
  /** What was reported before; absent the first time. */
  readonly before?: NoticeState;
}

export interface Channel {
  /** Names it in what is remembered. */
  readonly key: string;
  /** Of a run; undefined where it has nothing to tell. */
  readonly notice: (record: RunRecord) => Omit<Notice, 'before'> | undefined;
  /** Throws Failure. Takes a bounded time. */
  readonly send: (notice: Notice) => Promise<void>;
}

/** What a channel got last. */
export interface LastNotice {
  readonly state: NoticeState;
  readonly about: string;
  /** RFC 3339, of the last times. */
  readonly at: readonly string[];
  /** How many of them were about the same. */
  readonly times: number;
}

export interface Memory {
  /** By key of the channel. Throws Failure. */
  read(): Promise<ReadonlyMap<string, LastNotice>>;
  /** In place of what was read. Throws Failure. */
  write(reported: ReadonlyMap<string, LastNotice>): Promise<void>;
}

/** What people in a chat read, before any format of a chat. */
export interface ChatMessage {
  readonly mood: 'good' | 'waiting' | 'bad';
  readonly headline: string;
  readonly sections: readonly ChatSection[];
  /** Page with more. */
  readonly page?: string;
}

export interface ChatSection {
  readonly title: string;
  readonly items: readonly ChatItem[];
  /** To be typed by whoever wants to go on. */
  readonly command?: string;
}

export interface ChatItem {
  readonly text: string;
  readonly url?: string;
}
