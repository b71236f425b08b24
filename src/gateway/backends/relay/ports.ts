// Defines the channel between replicas, with topics for messages, and the services that they offer to one another.

import type { JsonObject } from '#std/json.ts';
import type { Answer, Flow } from '../backend.ts';

export interface RelayRequest {
  readonly head: JsonObject;
  readonly body: Buffer;
}

/** Service that a replica offers to other replicas. Never throws. */
export type RelayService = (request: RelayRequest, answer: Answer) => Flow;

export interface Channel {
  /**
   * Sends to the current listeners of the topic, in the order of the calls. Returns false if the topic has no
   * listeners. Rejects with a Failure if the store cannot be reached.
   */
  publish(topic: string, message: Buffer): Promise<boolean>;
  /**
   * Listens from now on, and listens again after a lost connection. Rejects with a Failure if the store cannot be
   * reached.
   */
  listen(topic: string, received: (message: Buffer) => void): Promise<void>;
  close(): Promise<void>;
}
