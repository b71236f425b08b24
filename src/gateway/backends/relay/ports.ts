// What replicas need to reach one another, topics to which messages are sent, and what they do for one another.

import type { JsonObject } from '#std/json.ts';
import type { Answer, Flow } from '../backend.ts';

export interface RelayRequest {
  readonly head: JsonObject;
  readonly body: Buffer;
}

/** What a replica does for others. Never throws. */
export type RelayService = (request: RelayRequest, answer: Answer) => Flow;

export interface Channel {
  /**
   * Sends to whoever listens to the topic now, in the order of the calls. False: no one does. Rejects with a Failure where
   * the store cannot be reached.
   */
  publish(topic: string, message: Buffer): Promise<boolean>;
  /** From now on, also after a lost connection. Rejects with a Failure where the store cannot be reached. */
  listen(topic: string, received: (message: Buffer) => void): Promise<void>;
  close(): Promise<void>;
}
