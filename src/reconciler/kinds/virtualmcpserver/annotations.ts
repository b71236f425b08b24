// Defines the settings of a VirtualMCPServer that are annotations `skep.dev/...`: meaning and valid values.

import {
  type AnnotationSetting,
  AUDIT_FAILURE_SETTING,
  type AuditFailureChoice,
  annotationFindings,
  annotationValue,
} from '../annotations.ts';
import type { Finding } from '../kind.ts';
import { PORT, type VirtualServer } from './facts.ts';

type VirtualServerPlace = 'VirtualMCPServers';
type VirtualServerSetting<Value> = AnnotationSetting<Value, VirtualServerPlace>;

const PLACES: readonly VirtualServerPlace[] = ['VirtualMCPServers'];

const ADMIN_PORT: VirtualServerSetting<number> = {
  name: 'skep.dev/admin-port',
  description:
    'Port of a listener on 127.0.0.1 of the pod with a page at / of backends, conflicts, workflows and their last runs: kubectl port-forward reaches it, and the Service does not.',
  values: `a port from 1024 to 65535, not ${PORT}`,
  fallback: 'no such listener',
  places: PLACES,
  read(text) {
    const port = /^[1-9][0-9]{3,4}$/.test(text) ? Number(text) : 0;
    return port >= 1024 && port <= 65_535 && port !== PORT ? port : undefined;
  },
};

const AUDIT_FAILURE: VirtualServerSetting<AuditFailureChoice> = { ...AUDIT_FAILURE_SETTING, places: PLACES };

export const VIRTUAL_ANNOTATIONS: readonly VirtualServerSetting<unknown>[] = [ADMIN_PORT, AUDIT_FAILURE];

/** Returns undefined if the annotation is missing or invalid. */
export function auditFailure({ resource }: Pick<VirtualServer, 'resource'>): AuditFailureChoice | undefined {
  return annotationValue(resource, AUDIT_FAILURE, PLACES);
}

/** Returns undefined if the annotation is missing or invalid. */
export function adminPort({ resource }: Pick<VirtualServer, 'resource'>): number | undefined {
  return annotationValue(resource, ADMIN_PORT, PLACES);
}

export function virtualAnnotationFindings({ resource }: Pick<VirtualServer, 'resource'>): readonly Finding[] {
  return annotationFindings(resource, VIRTUAL_ANNOTATIONS, PLACES);
}
