// What a story asks of a client, the same for every official client and revision of the protocol.

import { type Fields, fields, isFields, text } from '../conformance/fixture/json.ts';

/** How the user, the model and the file system of a client answer. */
export interface Replies {
  elicit(params: Fields): {
    action: 'accept' | 'decline' | 'cancel';
    content?: Record<string, string | number | boolean>;
  };
  sample(params: Fields): string;
  readonly roots: readonly string[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Asks the server to report progress. */
  readonly progress?: boolean;
}

/** Which changes to hear of. */
interface Watched {
  readonly uris?: readonly string[];
  readonly lists?: readonly ('tools' | 'prompts' | 'resources')[];
}

interface Reference {
  readonly prompt?: string;
  readonly template?: string;
}

export interface StoryClient {
  readonly era: 'session' | 'stateless';
  /** What the server says of itself. */
  server(): unknown;
  /** Every message of the server since the connection stands, in the order of arrival. */
  readonly messages: readonly Fields[];
  /** Resolves once this many notifications of the method came. */
  heard(method: string, count: number): Promise<readonly Fields[]>;
  listTools(): Promise<unknown>;
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
  listPrompts(): Promise<unknown>;
  getPrompt(name: string, args?: Record<string, string>): Promise<unknown>;
  /** All pages. */
  listResources(): Promise<unknown>;
  listTemplates(): Promise<unknown>;
  resourcesAfter(cursor: string): Promise<unknown>;
  readResource(uri: string): Promise<unknown>;
  complete(reference: Reference, name: string, value: string, chosen?: Record<string, string>): Promise<unknown>;
  logFrom(level: 'debug' | 'info' | 'error'): Promise<void>;
  /** Gives back what ends it. */
  watch(watched: Watched): Promise<() => Promise<void>>;
  unknownMethod(): Promise<unknown>;
  /** Ends the session as the protocol says it, where there is one. */
  leave(): Promise<void>;
}

/** A client of one kind, by name: connects to a URL. */
export interface ClientKind {
  readonly name: string;
  readonly era: 'session' | 'stateless';
  readonly front: 'streamable-http' | 'sse';
  connect(url: string, replies: Replies): Promise<StoryClient>;
}

interface Stage {
  /** A connection of its own; ended with the story where the story does not end it. */
  connect(replies?: Replies): Promise<StoryClient>;
}

export interface Story {
  readonly name: string;
  run(stage: Stage): Promise<Fields>;
}

export const REPLIES: Replies = {
  elicit: () => ({ action: 'accept', content: { name: 'Ada', username: 'ada', email: 'ada@example.com' } }),
  sample: (params) => `sampled: ${JSON.stringify(params.messages)}`,
  roots: ['file:///home/ada/project', 'file:///tmp/gr%C3%BC%C3%9Fe'],
};

/** What a request ended with. */
export async function settle(request: Promise<unknown>): Promise<Fields> {
  try {
    return { result: await request };
  } catch (error) {
    const { code, data, message } = fields(isFields(error) ? { ...error, message: Object(error).message } : {});
    return { error: { code, data, message: text(message).replace(/^MCP error -?\d+: /, '') } };
  }
}

/** Keeps what the server sends, and lets a story wait for it. */
export interface Mailbox {
  readonly messages: readonly Fields[];
  put(message: unknown): void;
  heard(method: string, count: number): Promise<readonly Fields[]>;
}

export function createMailbox(): Mailbox {
  const messages: Fields[] = [];
  const waiting = new Set<() => void>();
  return {
    messages,
    put: (message) => {
      messages.push(fields(message));
      for (const look of [...waiting]) look();
    },
    heard: (method, count) =>
      new Promise((resolve) => {
        const look = () => {
          const found = messages.filter((message) => message.method === method);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}
