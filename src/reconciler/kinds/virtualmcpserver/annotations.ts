// Defines the settings of a VirtualMCPServer that are annotations `skep.dev/...`: meaning and valid values.

import {
  type AnnotationSetting,
  AUDIT_FAILURE_SETTING,
  type AuditFailureChoice,
  annotationFindings,
  annotationValue,
} from '../annotations.ts';
import type { Finding } from '../kind.ts';
import type { VirtualServer } from './facts.ts';

type VirtualServerPlace = 'VirtualMCPServers';
type VirtualServerSetting<Value> = AnnotationSetting<Value, VirtualServerPlace>;

const PLACES: readonly VirtualServerPlace[] = ['VirtualMCPServers'];

const AUDIT_FAILURE: VirtualServerSetting<AuditFailureChoice> = { ...AUDIT_FAILURE_SETTING, places: PLACES };

export const VIRTUAL_ANNOTATIONS: readonly VirtualServerSetting<unknown>[] = [AUDIT_FAILURE];

/** Returns undefined if the annotation is missing or invalid. */
export function auditFailure({ resource }: Pick<VirtualServer, 'resource'>): AuditFailureChoice | undefined {
  return annotationValue(resource, AUDIT_FAILURE, PLACES);
}

export function virtualAnnotationFindings({ resource }: Pick<VirtualServer, 'resource'>): readonly Finding[] {
  return annotationFindings(resource, VIRTUAL_ANNOTATIONS, PLACES);
}
