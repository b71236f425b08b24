// Watches one kind until the server ends the watch. Reports each created, changed or deleted object, or its metadata
// (Kubernetes API Concepts, "Efficient detection of changes").

import type { Dispatcher } from 'undici';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type Json, parseJson } from '#std/json.ts';
import type { ClusterApi } from './api.ts';
import { type ConnectionOptions, type Connections, openConnections } from './connections.ts';
import type { ClusterCredentials, CredentialSource } from './credentials.ts';
import { isKubeObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import { type RequestSummary, refusal, unanswered, unexpected } from './refusals.ts';

export interface Watched {
  readonly kind: ApiResource;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** If set, events contain only the metadata of objects. */
  readonly only?: 'metadata' | undefined;
  readonly selector?: string | undefined;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

interface Watcher {
  /** Reports that the server has accepted the watch. */
  opened(): void;
  report(event: WatchEvent): void;
  /** Receives each resourceVersion from which another watch can continue, regardless of how this watch ends. */
  reached(version: string): void;
}

export interface Watches {
  /**
   * Resolves when the server or the signal ends the watch. Throws Failure `cluster-gone` if events after `from` were
   * lost, and other Failures of requests.
   */
  follow(watched: Watched, from: string, watcher: Watcher, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface WatchesOptions {
  readonly api: ClusterApi;
  readonly credentials: CredentialSource;
  readonly userAgent: string;
  readonly timeoutMs: number;
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
/** Seconds after which the server ends a watch. A watch that is silent for longer has lost its connection. */
const WATCH_SECONDS = 600;
const SILENCE_MS = (WATCH_SECONDS + 30) * 1000;
/** Longest silence after a bookmark. A server that has sent a bookmark sends one about every minute. */
const SILENCE_AFTER_BOOKMARK_MS = 180_000;
/** Maximum number of characters in an event. No object is larger. */
const LINE_MAX = 8 * 1024 * 1024;
/** Maximum number of characters in an error response. */
const REFUSAL_MAX = 64 * 1024;

export function openWatches(options: WatchesOptions): Watches {
  const { credentials } = options;
  const closing = new AbortController();
  const kept: ConnectionOptions = { credentials, timeoutMs: options.timeoutMs, endless: true };
  const connections = openConnections(kept, closing.signal);
  return {
    async follow(watched, from, watcher, signal) {
      const query = new URLSearchParams({
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: from,
        timeoutSeconds: `${WATCH_SECONDS}`,
        ...(watched.selector === undefined ? {} : { labelSelector: watched.selector }),
      });
      const path = `${collectionPath(watched.kind, watched.namespace)}?${query}`;
      const using = await credentials.current();
      const accept = watched.only === 'metadata' ? METADATA : 'application/json';
      const stream = { options, connections, path, accept, signal: AbortSignal.any([signal, closing.signal]) };
      try {
        await readEvents(stream, using, watched, watcher);
      } catch (error) {
        if (error instanceof Failure && error.code === 'cluster-unauthorized') await credentials.renew(using);
        throw error;
      }
    },
    async close() {
      closing.abort();
      await connections.close();
    },
  };
}

interface Stream {
  readonly options: WatchesOptions;
  readonly connections: Connections;
  readonly path: string;
  readonly accept: string;
  readonly signal: AbortSignal;
}

async function readEvents(
  stream: Stream,
  using: ClusterCredentials,
  { kind }: Watched,
  { opened, report, reached }: Watcher,
): Promise<void> {
  const url = stream.options.api.url(stream.path);
  const take = (line: string): boolean => {
    const event = parseJson(line);
    const object = isObject(event) ? event.object : undefined;
    if (!isObject(event) || !isObject(object)) throw unexpected(url, 'the watch sent a line that is not an event');
    if (event.type === 'ERROR')
      throw refusal(askedOf(url), { status: statusIn(object), headers: {}, text: JSON.stringify(object) });
    const whole = { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
    if (event.type !== 'BOOKMARK') {
      if (!isChange(event.type) || !isKubeObject(whole))
        throw unexpected(url, 'the watch sent an event that is not known');
      report({ type: event.type, object: whole });
    }
    const { resourceVersion } = isObject(object.metadata) ? object.metadata : {};
    if (typeof resourceVersion === 'string') reached(resourceVersion);
    return event.type === 'BOOKMARK';
  };
  await readLines(stream, using, { opened, take });
}

function isChange(type: Json | undefined): type is WatchEvent['type'] {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
}

function statusIn({ code }: { readonly code?: Json }): number {
  return typeof code === 'number' ? code : 500;
}

function askedOf(url: string): RequestSummary {
  return { method: 'GET', url, secret: false };
}

interface LineReader {
  opened(): void;
  /** Returns true if the line is a bookmark. */
  take(line: string): boolean;
}

/** Converts the error of an unreadable certificate or key to the Failure that other requests throw. */
function dispatcherOf({ connections }: Stream, credentials: ClusterCredentials, asked: RequestSummary): Dispatcher {
  try {
    return connections.for(credentials);
  } catch (error) {
    throw unanswered(asked, { cause: error });
  }
}

/** Resolves when the response ends. An error of `take` ends the watch. */
async function readLines(stream: Stream, credentials: ClusterCredentials, { opened, take }: LineReader): Promise<void> {
  const { options, path, signal } = stream;
  const { server, origin } = options.credentials;
  const asked = askedOf(server + path);
  const dispatcher = dispatcherOf(stream, credentials, asked);
  const sent: Dispatcher.DispatchOptions = {
    origin,
    path: server.slice(origin.length) + path,
    method: 'GET',
    headers: { ...credentials.headers, 'user-agent': options.userAgent, accept: stream.accept },
  };
  await new Promise<void>((resolve, reject) => {
    if (signal.aborted) return resolve();
    let status = 0;
    let pending = '';
    let failure: Error | undefined;
    const decoder = new TextDecoder();
    let started: Dispatcher.DispatchController | undefined;
    const end = (): void => started?.abort(new Error('the watch is over'));
    let silenceMs = SILENCE_MS;
    const endSilent = (): void => {
      failure = unanswered(asked, { timeoutMs: silenceMs });
      end();
    };
    let silence = setTimeout(endSilent, silenceMs);
    signal.addEventListener('abort', end, { once: true });
    const settle = (error?: Error): void => {
      clearTimeout(silence);
      signal.removeEventListener('abort', end);
      if (signal.aborted) resolve();
      else if (failure !== undefined) reject(failure);
      else if (error !== undefined) reject(unanswered(asked, { cause: error }));
      else resolve();
    };
    const takeLines = (): void => {
      const lines = pending.split('\n');
      pending = lines.pop() ?? '';
      if (pending.length > LINE_MAX) throw unexpected(asked.url, 'the watch sent a line without an end');
      for (const line of lines) if (line !== '' && take(line)) silenceMs = SILENCE_AFTER_BOOKMARK_MS;
    };
    dispatcher.dispatch(sent, {
      onRequestStart(controller) {
        started = controller;
        if (signal.aborted) end();
      },
      onResponseStart: (_, code) => {
        status = code;
        if (code === 200) opened();
      },
      onResponseData(_, chunk) {
        if (failure !== undefined) return;
        clearTimeout(silence);
        silence = setTimeout(endSilent, silenceMs);
        pending += decoder.decode(chunk, { stream: true });
        try {
          if (status === 200) takeLines();
          else if (pending.length > REFUSAL_MAX) throw refusal(asked, { status, headers: {}, text: pending });
        } catch (error) {
          failure = error instanceof Error ? error : new Error(String(error));
          end();
        }
      },
      onResponseEnd() {
        if (status !== 200) failure ??= refusal(asked, { status, headers: {}, text: pending });
        settle();
      },
      onResponseError: (_, error) => settle(error),
    });
  });
}
