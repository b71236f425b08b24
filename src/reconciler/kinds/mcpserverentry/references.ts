// Lists the references of an MCPServerEntry: its group, authentication settings, Secrets of headers, certificates.

import { bundleReferences } from '../auth/ca-bundle.ts';
import { headerReferences } from '../auth/header-forward.ts';
import type { Typed } from '../define.ts';
import type { Reference } from '../kind.ts';
import { settingsReferences } from '../shared-settings.ts';
import { toolsLockReferences } from '../tools-lock.ts';
import type { MCPServerEntrySpec } from './schema.ts';

export type ServerEntry = Typed<typeof MCPServerEntrySpec>;

export function references({ spec, resource }: ServerEntry): readonly Reference[] {
  return [
    { pointer: '/spec/groupRef/name', kind: 'MCPGroup', name: spec.groupRef.name },
    ...settingsReferences({ externalAuthConfigRef: spec.externalAuthConfigRef }),
    ...headerReferences(spec.headerForward, '/spec/headerForward'),
    ...bundleReferences(spec.caBundleRef, '/spec/caBundleRef'),
    ...toolsLockReferences(resource),
  ];
}
