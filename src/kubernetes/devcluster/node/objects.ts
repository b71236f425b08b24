// Defines the fields of Kubernetes objects that a node reads.

import type { OwnerReference } from '../../rules/object.ts';

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly deletionTimestamp?: string;
}

interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: string | number };
  readonly tcpSocket?: { readonly port: string | number };
  readonly grpc?: { readonly port: number };
  readonly exec?: { readonly command?: readonly string[] };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
  readonly successThreshold?: number;
}

export interface ContainerVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: KeyRef;
    readonly configMapKeyRef?: KeyRef;
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface VariablesFrom {
  readonly prefix?: string;
  readonly configMapRef?: { readonly name: string; readonly optional?: boolean };
  readonly secretRef?: { readonly name: string; readonly optional?: boolean };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  /** Replaces the image's entry point. */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** If set, the input stays open for attached clients. */
  readonly stdin?: boolean;
  /** If set, the input is closed with the first connection that had input. */
  readonly stdinOnce?: boolean;
  readonly env?: readonly ContainerVariable[];
  readonly envFrom?: readonly VariablesFrom[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

/** A ConfigMap or Secret that is mounted as files. */
export interface KeyedFiles {
  readonly name?: string;
  readonly secretName?: string;
  readonly optional?: boolean;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface Volume {
  readonly name: string;
  readonly configMap?: KeyedFiles;
  readonly secret?: KeyedFiles;
  readonly projected?: {
    readonly sources?: readonly { readonly configMap?: KeyedFiles; readonly secret?: KeyedFiles }[];
  };
  readonly emptyDir?: object;
  readonly hostPath?: { readonly path: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly restartPolicy?: string;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status?: {
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount?: number }[];
  };
}

export interface Service {
  readonly metadata: Metadata;
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly sessionAffinity?: string;
    readonly ports?: readonly { readonly port: number; readonly targetPort?: string | number }[];
  };
}

export interface Data {
  readonly metadata: Metadata;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Casts a stored object, which was validated when it was stored. */
export function asPod(stored: unknown): Pod {
  return stored as Pod;
}

/** Returns the number of a port. undefined if the container does not declare the name. */
export function portNumber({ ports = [] }: Container, port: string | number): number | undefined {
  return typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort;
}
