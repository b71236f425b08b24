// How far a VirtualMCPServer is. Knows nothing about how to change that.

import type { Static } from '../../std/schema.ts';
import type { Observed } from '../kind.ts';
import { conditionsOf, observedGeneration } from '../shared/conditions.ts';
import { originOf, type VirtualServer } from './facts.ts';
import type { VirtualMCPServerStatus } from './schema.ts';

export function status(self: VirtualServer, observed: Observed): Static<typeof VirtualMCPServerStatus> {
  const { resource } = self;
  const message = 'it has not been deployed';
  const ready = { type: 'Ready', status: 'False', reason: 'DeploymentNotReady', message } as const;
  return {
    ...observedGeneration(resource),
    phase: 'Pending',
    message,
    url: originOf(self),
    conditions: conditionsOf(resource, [ready], observed),
  };
}
