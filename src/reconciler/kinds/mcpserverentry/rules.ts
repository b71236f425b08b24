// Finds mistakes in an MCPServerEntry that neither its schema nor CEL can express: in the resource (rules), and in the
// objects that it references (inspect).

import { type AnnotationSetting, annotationFindings } from '../annotations.ts';
import { bundleReferences, certificatesFault } from '../auth/ca-bundle.ts';
import { authHeaderFindings, headerFindings } from '../auth/header-findings.ts';
import type { Finding, View } from '../kind.ts';
import { remotePlaceFindings, remoteUrlFindings } from '../proxy/remote-url.ts';
import { TOOLS_LOCK_SETTING, toolsLockFindings } from '../tools-lock.ts';
import { strategyOf } from '../virtualmcpserver/strategies.ts';
import type { ServerEntry } from './references.ts';

const POINTER = '/spec/remoteUrl';

const PLACES = ['MCPServerEntries'] as const;

export const ENTRY_ANNOTATIONS: readonly AnnotationSetting<unknown, (typeof PLACES)[number]>[] = [
  { ...TOOLS_LOCK_SETTING, places: PLACES },
];

export function rules({ spec, resource }: ServerEntry): readonly Finding[] {
  const faults = remoteUrlFindings(spec.remoteUrl, POINTER);
  const place = { mayBePrivate: spec.allowPrivateEndpoint, pointer: POINTER, caller: 'virtual servers' } as const;
  return [
    ...(faults.length > 0 ? faults : remotePlaceFindings(spec.remoteUrl, place)),
    ...headerFindings(spec.headerForward, '/spec/headerForward'),
    ...annotationFindings(resource, ENTRY_ANNOTATIONS, PLACES),
  ];
}

export function inspect({ spec, resource }: ServerEntry, view: View): readonly Finding[] {
  const { externalAuthConfigRef: ref, headerForward, caBundleRef } = spec;
  const converted = ref === undefined ? undefined : strategyOf(ref.name, view);
  const pointer = '/spec/externalAuthConfigRef/name';
  return [
    ...(converted !== undefined && 'fault' in converted
      ? [{ code: 'backend-auth-unusable', severity: 'error', pointer, message: converted.fault } as const]
      : []),
    ...authHeaderFindings(headerForward, ref, view, '/spec/headerForward'),
    ...toolsLockFindings(resource, view),
    ...bundleReferences(caBundleRef, '/spec/caBundleRef').flatMap((reference): readonly Finding[] => {
      const message = certificatesFault(reference, view);
      return message === undefined
        ? []
        : [{ code: 'ca-bundle-invalid', severity: 'error', pointer: reference.pointer, message }];
    }),
  ];
}
