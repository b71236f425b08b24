// Finds what is wrong with an MCPServerEntry that neither its schema nor CEL can say: in itself (rules), and with what it names
// (inspect).

import type { Static } from '#std/schema.ts';
import { bundleReferences, certificatesFault } from '../auth/ca-bundle.ts';
import { authHeaderFindings, headerFindings } from '../auth/header-findings.ts';
import type { Finding, View } from '../kind.ts';
import { remoteUrlFindings } from '../proxy/remote-url.ts';
import { placeOfUrl } from '../proxy/url-places.ts';
import { strategyOf } from '../virtualmcpserver/strategies.ts';
import type { MCPServerEntrySpec } from './schema.ts';

interface Entry {
  readonly spec: Static<typeof MCPServerEntrySpec>;
}

const POINTER = '/spec/remoteUrl';

export function rules({ spec }: Entry): readonly Finding[] {
  const faults = remoteUrlFindings(spec.remoteUrl, POINTER);
  return [
    ...(faults.length > 0 ? faults : placeFindings(spec)),
    ...headerFindings(spec.headerForward, '/spec/headerForward'),
  ];
}

export function inspect({ spec }: Entry, view: View): readonly Finding[] {
  const { externalAuthConfigRef: ref, headerForward, caBundleRef } = spec;
  const converted = ref === undefined ? undefined : strategyOf(ref.name, view);
  const pointer = '/spec/externalAuthConfigRef/name';
  return [
    ...(converted !== undefined && 'fault' in converted
      ? [{ code: 'backend-auth-unusable', severity: 'error', pointer, message: converted.fault } as const]
      : []),
    ...authHeaderFindings(headerForward, ref, view, '/spec/headerForward'),
    ...bundleReferences(caBundleRef, '/spec/caBundleRef').flatMap((reference): readonly Finding[] => {
      const message = certificatesFault(reference, view);
      return message === undefined
        ? []
        : [{ code: 'ca-bundle-invalid', severity: 'error', pointer: reference.pointer, message }];
    }),
  ];
}

/** By what is written: a name is not resolved. */
function placeFindings({ remoteUrl, allowPrivateEndpoint }: Entry['spec']): readonly Finding[] {
  const { host, place } = placeOfUrl(remoteUrl);
  const code = 'remote-url-invalid';
  if (place === 'never') {
    const message = `${host} is the node itself, a metadata service or the API server: no entry may name it`;
    return [{ code, severity: 'error', pointer: POINTER, message }];
  }
  if (allowPrivateEndpoint || place !== 'private') return [];
  const message = `${host} is inside a private network: set allowPrivateEndpoint to true if virtual servers are to call it`;
  return [{ code, severity: 'error', pointer: POINTER, message }];
}
