// Links a Job to its pods by setting its selector and labels.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { objectAt } from './fields.ts';

/** Adds a selector and labels with the Job's uid, unless the Job has `manualSelector`. */
export function withOwnSelector(object: KubeObject): KubeObject {
  const spec = objectAt(object, 'spec');
  if (spec.manualSelector === true) return object;
  const { uid = '', name } = object.metadata;
  const template = objectAt(spec, 'template');
  const metadata = objectAt(template, 'metadata');
  const labels: JsonObject = {
    ...objectAt(metadata, 'labels'),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
  return { ...object, spec: { ...spec, selector, template: { ...template, metadata: { ...metadata, labels } } } };
}
