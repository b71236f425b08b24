// What the node of tests reads of Kubernetes objects, and how it asks for them. Knows nothing about processes.

import type { Api } from '../../recordings/api.ts';

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
}

interface KeyRef {
  readonly name: string;
  readonly key: string;
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly tcpSocket?: { readonly port: string | number };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef?: KeyRef; readonly configMapKeyRef?: KeyRef };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

export interface KeyedFiles {
  readonly name?: string;
  readonly secretName?: string;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface Volume {
  readonly name: string;
  readonly configMap?: KeyedFiles;
  readonly secret?: KeyedFiles;
  readonly projected?: {
    readonly sources: readonly { readonly configMap?: KeyedFiles; readonly secret?: KeyedFiles }[];
  };
}

interface PodSpec {
  readonly nodeName?: string;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export interface Workload {
  readonly metadata: Metadata;
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata: Partial<Metadata>; readonly spec: PodSpec };
  };
  readonly status?: { readonly readyReplicas?: number };
}

export interface Service {
  readonly metadata: Metadata;
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort?: string | number }[];
  };
}

/** A ConfigMap or a Secret. */
export interface Data {
  readonly data?: Readonly<Record<string, string>>;
}

const GONE = [404, 409];

/** Undefined where it is not there. */
export async function read<T>(api: Api, path: string): Promise<T | undefined> {
  const { status, body } = await api.call({ method: 'GET', path, query: {} });
  if (status === 200) return body as T;
  if (status === 404) return undefined;
  throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
}

export async function list<T>(api: Api, path: string): Promise<readonly T[]> {
  return (await read<{ readonly items: readonly T[] }>(api, path))?.items ?? [];
}

/** What has gone meanwhile is no failure: pods come and go. */
export async function write(
  api: Api,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body: object,
): Promise<{ readonly [key: string]: unknown }> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await api.call({ method, path, query: {}, contentType, body: JSON.stringify(body) });
  if (answer.status >= 300 && !GONE.includes(answer.status)) {
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body as { readonly [key: string]: unknown };
}

export function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}
