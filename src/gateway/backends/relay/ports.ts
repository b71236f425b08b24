// Defines the channel between replicas, and the services that replicas offer to each other. The channel has topics for
// messages.

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
   * Sends to the current listeners of the topic. Messages keep the order of the calls of `publish`. Returns false if
   * the topic has no listener. Rejects with a Failure if the store is unreachable.
   */
  publish(topic: string, message: Buffer): Promise<boolean>;
  /** Listens from now on, and again after a disconnection. Rejects with a Failure if the store is unreachable. */
  listen(topic: string, received: (message: Buffer) => void): Promise<void>;
  close(): Promise<void>;
}
