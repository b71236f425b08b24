// The pods of a node as processes of this machine. An image stands for a command that the test names. Knows nothing about
// who made the pods.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalCommand, LocalContainers } from '../../../src/devcluster/attach/local-containers.ts';
import { freePort } from '../../../src/devcluster/node/free-port.ts';
import { Failure } from '../../../src/std/failure.ts';
import type { Api } from '../../recordings/api.ts';
import { MISSING, readData, valueAt, writeVolumes } from './files.ts';
import { type Container, type Pod, podsPath, write } from './objects.ts';
import { type RunningContainer, runContainer } from './running.ts';
import { statusOf } from './status.ts';

/** What a container is started with: paths and addresses are those of this machine. */
export interface Start {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The port of this machine in place of one of the container. */
  port(containerPort: number): number;
}

/** The command that an image stands for. */
export type Image = (start: Start) => LocalCommand;

export interface PodParts {
  readonly api: Api;
  readonly containers: LocalContainers;
  readonly images: Readonly<Record<string, Image>>;
  /** A kubeconfig for pods of this account that may speak to the cluster. */
  kubeconfigFor(namespace: string, account: string): Promise<string>;
  servicePort(namespace: string, name: string, port: number): Promise<number>;
}

export interface RunningPod {
  readonly pod: Pod;
  readonly containers: readonly RunningContainer[];
  ready(): boolean;
  port(containerPort: number): number | undefined;
  /** Writes its status where it is another than before. */
  report(): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined while something that it mounts is not there. */
export async function startPod(parts: PodParts, pod: Pod): Promise<RunningPod | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'skep-pod-'));
  const ports = new Map<number, number>();
  for (const { containerPort } of pod.spec.containers.flatMap((each) => each.ports ?? [])) {
    ports.set(containerPort, await freePort());
  }
  const local = (containerPort: number) => ports.get(containerPort) ?? containerPort;
  try {
    const prepared: (readonly [Container, LocalCommand])[] = [];
    for (const spec of pod.spec.containers) prepared.push([spec, await prepare(parts, pod, spec, folder, local)]);
    const containers = prepared.map(([spec, command]) => {
      const name = { namespace: pod.metadata.namespace, pod: pod.metadata.name, container: spec.name };
      return runContainer({ containers: parts.containers, name, spec, command, local });
    });
    return runningPod(parts.api, pod, containers, ports, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (error instanceof Failure && error.code === MISSING) return undefined;
    throw error;
  }
}

async function prepare(
  parts: PodParts,
  pod: Pod,
  spec: Container,
  folder: string,
  local: (containerPort: number) => number,
): Promise<LocalCommand> {
  const { namespace } = pod.metadata;
  const image = parts.images[spec.image];
  if (image === undefined) throw new Error(`the test does not say what image ${spec.image} stands for`);
  const addresses = { port: local, service: parts.servicePort };
  const { text } = await writeVolumes(parts.api, pod, spec, join(folder, spec.name), addresses);
  const env: Record<string, string> = { PATH: process.env.PATH ?? '' };
  for (const { name, value, valueFrom } of spec.env ?? []) {
    env[name] = text(value ?? (await readVariable(parts.api, namespace, valueFrom)));
  }
  if (pod.spec.automountServiceAccountToken !== false) {
    env.KUBECONFIG = await parts.kubeconfigFor(namespace, pod.spec.serviceAccountName ?? 'default');
  }
  return image({ args: (spec.args ?? []).map(text), env, port: local });
}

type Source = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;

async function readVariable(
  api: Api,
  namespace: string,
  { secretKeyRef, configMapKeyRef }: Source = {},
): Promise<string> {
  const ref = secretKeyRef ?? configMapKeyRef;
  if (ref === undefined) return '';
  const data = await readData(api, namespace, secretKeyRef === undefined ? 'configmaps' : 'secrets', ref.name);
  return valueAt(data, ref.key).toString();
}

const GRACE_MS = 10_000;

function runningPod(
  api: Api,
  pod: Pod,
  containers: readonly RunningContainer[],
  ports: ReadonlyMap<number, number>,
  folder: string,
): RunningPod {
  let written = '';
  const ready = () => containers.every((each) => each.state().ready);
  return {
    pod,
    containers,
    ready,
    port: (containerPort) => ports.get(containerPort),
    async report() {
      const status = statusOf(containers);
      const text = JSON.stringify(status);
      if (text === written) return;
      written = text;
      const { namespace, name, uid } = pod.metadata;
      await write(api, 'PATCH', `${podsPath(namespace)}/${name}/status`, { metadata: { uid }, status });
    },
    async stop() {
      await Promise.all(containers.map((each) => each.stop(GRACE_MS)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
