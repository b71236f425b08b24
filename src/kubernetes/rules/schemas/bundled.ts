// Provides the built-in kinds that are known without a cluster: their schemas and their names in URLs.
// scripts/record-schemas.ts records the documents.

import type { OpenApiDocument } from '../openapi.ts';
import admissionregistration from './admissionregistration.k8s.io_v1.json' with { type: 'json' };
import apiextensions from './apiextensions.k8s.io_v1.json' with { type: 'json' };
import apiregistration from './apiregistration.k8s.io_v1.json' with { type: 'json' };
import apps from './apps_v1.json' with { type: 'json' };
import autoscaling from './autoscaling_v2.json' with { type: 'json' };
import batch from './batch_v1.json' with { type: 'json' };
import certificates from './certificates.k8s.io_v1.json' with { type: 'json' };
import coordination from './coordination.k8s.io_v1.json' with { type: 'json' };
import core from './core_v1.json' with { type: 'json' };
import discovery from './discovery.k8s.io_v1.json' with { type: 'json' };
import events from './events.k8s.io_v1.json' with { type: 'json' };
import flowcontrol from './flowcontrol.apiserver.k8s.io_v1.json' with { type: 'json' };
import { BUNDLED_KINDS, type BundledKind } from './kinds.ts';
import networking from './networking.k8s.io_v1.json' with { type: 'json' };
import node from './node.k8s.io_v1.json' with { type: 'json' };
import policy from './policy_v1.json' with { type: 'json' };
import rbac from './rbac.authorization.k8s.io_v1.json' with { type: 'json' };
import resource from './resource.k8s.io_v1.json' with { type: 'json' };
import scheduling from './scheduling.k8s.io_v1.json' with { type: 'json' };
import storage from './storage.k8s.io_v1.json' with { type: 'json' };

const DOCUMENTS: ReadonlyMap<string, OpenApiDocument> = new Map(
  Object.entries({
    v1: core,
    'apps/v1': apps,
    'batch/v1': batch,
    'rbac.authorization.k8s.io/v1': rbac,
    'networking.k8s.io/v1': networking,
    'policy/v1': policy,
    'autoscaling/v2': autoscaling,
    'coordination.k8s.io/v1': coordination,
    'apiextensions.k8s.io/v1': apiextensions,
    'admissionregistration.k8s.io/v1': admissionregistration,
    'events.k8s.io/v1': events,
    'storage.k8s.io/v1': storage,
    'scheduling.k8s.io/v1': scheduling,
    'resource.k8s.io/v1': resource,
    'node.k8s.io/v1': node,
    'flowcontrol.apiserver.k8s.io/v1': flowcontrol,
    'discovery.k8s.io/v1': discovery,
    'certificates.k8s.io/v1': certificates,
    'apiregistration.k8s.io/v1': apiregistration,
  } as Record<string, object>).map(([apiVersion, document]) => [apiVersion, document as OpenApiDocument]),
);

/** Returns undefined if the schema of the group-version is not bundled. */
export function bundledSchema(apiVersion: string): OpenApiDocument | undefined {
  return DOCUMENTS.get(apiVersion);
}

/** Returns all bundled kinds in the order of the recorded documents. */
export function bundledKinds(): readonly BundledKind[] {
  return BUNDLED_KINDS;
}
