// Lists the fields by which objects of each kind can be selected, in addition to name and namespace.

import { isObject, type Json } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { SelectableFields } from './selectors.ts';

const BUILTIN: Readonly<Record<string, readonly string[]>> = {
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/events': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  '/secrets': ['type'],
  '/namespaces': ['status.phase'],
  '/services': ['spec.clusterIP', 'spec.type'],
  'apps/replicasets': ['status.replicas'],
  'batch/jobs': ['status.successful'],
};

const EVENT_FIELDS = ['regarding.kind', 'regarding.namespace', 'regarding.name', 'regarding.uid', 'reason', 'type'];

export function selectableFields(type: ResourceType): SelectableFields {
  const paths =
    type.custom?.selectableFields ?? (type.group === 'events.k8s.io' ? EVENT_FIELDS : BUILTIN[type.collection]);
  return Object.fromEntries((paths ?? []).map((path) => [path, (object: KubeObject) => textAt(object, path)]));
}

function textAt(object: KubeObject, path: string): string {
  if (path === 'source' && isObject(object.source)) return fieldText(object.source.component);
  let value: Json | undefined = object;
  for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
  if (path === 'spec.hostNetwork') return String(value === true);
  return fieldText(value);
}

function fieldText(value: Json | undefined): string {
  return value === undefined || value === null || isObject(value) || Array.isArray(value) ? '' : String(value);
}
