// Defines the kind MCPAuthzConfig: permissions of callers for all resources that name the object. It has no children:
// skep renders its policies into the children of these resources.

import { SharedAuthz, sharedPolicies } from '../auth/shared-authz.ts';
import { ConfigStatus, configStatus } from '../config-status.ts';
import { defineKind } from '../define.ts';
import type { Finding } from '../kind.ts';

export const MCPAuthzConfig = defineKind({
  kind: 'MCPAuthzConfig',
  plural: 'mcpauthzconfigs',
  singular: 'mcpauthzconfig',
  shortNames: ['authzcfg'],
  categories: ['toolhive'],
  description: 'Permissions of callers of servers and proxies of the namespace.',
  printerColumns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  after: [],
  schema: { spec: SharedAuthz, status: ConfigStatus },
  rules: ({ resource }) => {
    const found = sharedPolicies(resource.spec);
    if (!('faults' in found)) return [];
    return found.faults.map(({ pointer, ...fault }): Finding => {
      return { ...fault, severity: 'error', pointer: `/spec${pointer}` };
    });
  },
  status: (self, observed) => configStatus(self, 'authzConfigRef', observed),
});
