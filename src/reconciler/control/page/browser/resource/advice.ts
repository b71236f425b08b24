// Says what to do next about a resource, by well-known reasons of Kubernetes in its pods and its state.

import type { FleetEntry } from '../../../../run/fleet-state/format.ts';
import type { ResourceDetail } from './resource-format.ts';

const ADVICE: readonly (readonly [reason: RegExp, advice: string])[] = [
  [
    /ErrImagePull|ImagePullBackOff|InvalidImageName/,
    'Its image cannot be pulled. Check the name and tag in the manifest, and the Secret of its registry (imagePullSecrets).',
  ],
  [/CrashLoopBackOff|RunContainerError/, 'Its program ends again and again. The last lines of its log say why.'],
  [/OOMKilled/, 'It used more memory than its limit. Raise resources.limits.memory in the manifest, or find out why.'],
  [
    /CreateContainerConfigError/,
    'A Secret or ConfigMap that it names does not exist, or lacks a key. The Events name it.',
  ],
  [/Unschedulable|FailedScheduling/, 'No node has room for its pod. The Events say what is missing.'],
];

/** Returns sentences, each once; none if nothing is known that a person should do. */
export function adviceOn({ state }: Pick<FleetEntry, 'state'>, detail: Pick<ResourceDetail, 'objects' | 'events'>) {
  const { objects, events } = detail;
  const pods = objects.flatMap((object) => object.pods ?? []);
  const texts = [
    ...pods.map(({ ready, why, lastEnd = '' }) => (ready ? '' : `${why} ${lastEnd}`)),
    ...events.filter(({ type }) => type === 'Warning' && state !== 'healthy').map(({ reason }) => reason),
  ].join('\n');
  const known = ADVICE.flatMap(([reason, advice]) => (reason.test(texts) ? [advice] : []));
  const others = objects.some(({ fields }) => fields.some(({ state: kept }) => kept === 'kept'));
  const drift =
    'Someone else has set fields that Git declares too. Commit their value to Git, leave the field to them (docs/changes.md), or set apply.conflicts to force.';
  return others ? [...known, drift] : known;
}
