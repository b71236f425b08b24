// What the controllers of a cluster do and those of the embedded server do not: pods of Deployments and StatefulSets, and
// how many of them are ready. Knows nothing about processes.

import { createHash } from 'node:crypto';
import type { Api } from '../../recordings/api.ts';
import { list, type Pod, podsPath, type Workload, write } from './objects.ts';

const KINDS = [
  { kind: 'Deployment', plural: 'deployments' },
  { kind: 'StatefulSet', plural: 'statefulsets' },
] as const;

export async function controlWorkloads(api: Api, namespaces: readonly string[]): Promise<void> {
  for (const namespace of namespaces) {
    const pods = await list<Pod>(api, podsPath(namespace));
    for (const { kind, plural } of KINDS) {
      const path = `/apis/apps/v1/namespaces/${namespace}/${plural}`;
      const workloads = await list<Workload>(api, path);
      await Promise.all(workloads.map((workload) => control(api, { kind, path, workload, pods })));
    }
  }
}

interface Controlled {
  readonly kind: string;
  readonly path: string;
  readonly workload: Workload;
  readonly pods: readonly Pod[];
}

async function control(api: Api, { kind, path, workload, pods }: Controlled): Promise<void> {
  const { metadata, spec } = workload;
  if (metadata.deletionTimestamp !== undefined) return;
  const wanted = Array.from({ length: spec.replicas ?? 1 }, (_, index) => podName(kind, workload, index));
  const own = pods.filter((pod) => pod.metadata.annotations?.[OWNER] === `${kind}/${metadata.name}`);
  const template = digestOf(spec.template);
  const stale = own.filter(({ metadata: { name, annotations } }) => {
    return !wanted.includes(name) || annotations?.[TEMPLATE] !== template;
  });
  await Promise.all(
    stale.map((pod) => write(api, 'DELETE', `${podsPath(metadata.namespace)}/${pod.metadata.name}`, {})),
  );
  const missing = wanted.filter((name) => !own.some((pod) => pod.metadata.name === name));
  await Promise.all(
    missing.map((name) => write(api, 'POST', podsPath(metadata.namespace), podOf(kind, workload, name))),
  );
  const ready = own.filter((pod) => !stale.includes(pod) && isReady(pod)).length;
  if (ready === (workload.status?.readyReplicas ?? 0)) return;
  const count = ready === 0 ? null : ready;
  const status = { readyReplicas: count, availableReplicas: kind === 'Deployment' ? count : ready };
  await write(api, 'PATCH', `${path}/${metadata.name}/status`, { status });
}

const OWNER = 'test.example.com/owner';
const TEMPLATE = 'test.example.com/template';

/** Pods of a Deployment have names that nobody knows before. */
function podName(kind: string, { metadata, spec }: Workload, index: number): string {
  return kind === 'StatefulSet' ? `${metadata.name}-${index}` : `${metadata.name}-${digestOf(spec.template)}-${index}`;
}

function digestOf(template: object): string {
  return createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 8);
}

function podOf(kind: string, { metadata, spec }: Workload, name: string): object {
  const { template } = spec;
  const owner = { apiVersion: 'apps/v1', kind, name: metadata.name, uid: metadata.uid, controller: true };
  const annotations = {
    ...template.metadata.annotations,
    ...{ [OWNER]: `${kind}/${metadata.name}`, [TEMPLATE]: digestOf(template) },
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: template.metadata.labels, annotations, ownerReferences: [owner] },
    spec: template.spec,
  };
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}
