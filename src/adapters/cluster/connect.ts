// Connects the reconciler to the Kubernetes API: implements `Cluster` of reconciler/run/ports.ts. Objects are passed
// unchanged in both directions, because a typed client would drop unknown fields.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource, Clock, Cluster, Exchange, ListOptions, PodReads } from '#reconciler/run/ports.ts';
import { type ApiOptions, createApi } from './api.ts';
import { openPodReads } from './console/pod-reads.ts';
import { type CredentialSource, openCredentials } from './credentials.ts';
import { createLimiter } from './limiter.ts';
import { openLists, type ReadList } from './lists.ts';
import {
  applyObject,
  discoverOnce,
  getObject,
  type Limit,
  patchObject,
  type RequestContext,
  removeObject,
  storeObject,
} from './object-requests.ts';
import { createSchemas } from './schemas.ts';
import { openTokenIssuer } from './token-issuer.ts';
import { openWatches, type Watches } from './watch.ts';

export interface ClusterOptions {
  /** Path. Default: $KUBECONFIG, ~/.kube/config, or the pod's service account. */
  readonly kubeconfig?: string;
  /** Name of a context of the kubeconfig. Default: its current context. */
  readonly context?: string;
  /** Value of $KUBECONFIG, for messages. */
  readonly usual?: string;
  /** `skep-<instance>`. */
  readonly fieldManager: string;
  /** Maximum number of concurrent requests. The client lowers this number while the server reports overload. */
  readonly concurrency: number;
  /** Sent as `user-agent: skep/<version>`. */
  readonly version: string;
  readonly clock: Clock;
  /** Timeout of a request in milliseconds. Default: 1 minute. */
  readonly timeoutMs?: number | undefined;
  /** Timeout of an urgent request in milliseconds. Default: 5 s. */
  readonly urgentTimeoutMs?: number;
  /** Time limit in milliseconds for all requests together, counted from `connectCluster`. Default: none. */
  readonly withinMs?: number | undefined;
  /** Receives every sent request after it has ended. */
  readonly observe?: (exchange: Exchange) => void;
  /** Returns the `traceparent` header of the current work. If absent or undefined, no header is sent. */
  readonly traceParent?: () => string | undefined;
}

export interface ConnectedCluster extends Cluster {
  /** Returns the namespace of the kubeconfig's context or of the pod. Defaults to `default`. */
  homeNamespace(): string;
  /** Sets the time limit of later requests. undefined removes the limit. */
  limit(limit: Limit | undefined): void;
  server(): string;
  readonly watches: Omit<Watches, 'close'>;
  /** Lists objects and returns the resourceVersion of the collection too. */
  readonly readList: ReadList;
  /** Returns the objects of a list that a watch keeps current. undefined if a request would be needed. */
  keptList(
    kind: ApiResource,
    namespace: string | undefined,
    how: Pick<ListOptions, 'only' | 'selector'>,
  ): readonly KubeObject[] | undefined;
  /** Reads texts of pods and Events for the console, over connections that no run uses. */
  readonly podReads: PodReads;
  close(): Promise<void>;
}

/** Reads the kubeconfig. Sends no request. Throws Failure `cluster-config-invalid`. */
export async function connectCluster(options: ClusterOptions): Promise<ConnectedCluster> {
  const credentials = await openCredentials(options);
  const commandUntil = options.withinMs === undefined ? Infinity : options.clock.monotonic() + options.withinMs;
  const deadline = () => Math.min(commandUntil, context.limit?.requestsUntil ?? Infinity);
  const requests = apiOptions(options, credentials, deadline);
  const api = createApi(requests);
  const { fieldManager, clock } = options;
  const context: RequestContext = {
    api,
    clock,
    fieldManager,
    fence: undefined,
    limit: undefined,
    discovered: undefined,
  };
  const schemas = createSchemas(api);
  const watches = openWatches({ ...requests, api });
  const readList = openLists(api, options.clock);
  const { close: closePodReads, ...podReads } = openPodReads(requests);
  return {
    resources: async () => (await discoverOnce(context)).preferred,
    serves: async (apiVersion, kind) => (await discoverOnce(context)).find(apiVersion, kind),
    schema: schemas.read,
    tokenIssuer: openTokenIssuer(api, options.clock),
    refresh: () => {
      context.discovered = undefined;
      schemas.refresh();
    },
    list: async (kind, namespace, how) => (await readList(kind, namespace, how)).objects,
    listAgain: () => undefined,
    keptList: () => undefined,
    ...objectMethods(context),
    fence: (check) => {
      context.fence = check;
    },
    limit: (limit) => {
      context.limit = limit;
    },
    requests: api.requests,
    homeNamespace: () => credentials.namespace,
    server: () => credentials.server,
    watches,
    readList,
    podReads,
    close: async () => {
      await Promise.all([api.close(), watches.close(), closePodReads()]);
    },
  };
}

function objectMethods(
  context: RequestContext,
): Pick<Cluster, 'get' | 'apply' | 'remove' | 'patch' | 'create' | 'replace'> {
  return {
    get: (id, how) => getObject(context, id, how === 'urgent'),
    apply: (object, how) => applyObject(context, object, how),
    remove: (id, uid, as, resourceVersion) =>
      removeObject(context, id, { uid, resourceVersion: resourceVersion || undefined }, as),
    patch: (object, operations, how) => patchObject(context, object, operations, how),
    create: (object) => storeObject(context, object, 'POST'),
    replace: (object) => storeObject(context, object, 'PUT'),
  };
}

function apiOptions(options: ClusterOptions, credentials: CredentialSource, deadline: () => number): ApiOptions {
  return {
    credentials,
    limiter: createLimiter(options.concurrency),
    clock: options.clock,
    // Three more connections for urgent requests: lease, suspension and record may be requested at the same time.
    connections: options.concurrency + 3,
    userAgent: `skep/${options.version}`,
    timeoutMs: options.timeoutMs ?? 60_000,
    urgentTimeoutMs: options.urgentTimeoutMs ?? 5_000,
    deadline,
    observe: options.observe,
    traceParent: options.traceParent,
  };
}
