// Defines the kind MCPOIDCConfig: settings for accepted tokens. It has no children: skep renders its settings into the
// children of the resources that name it.

import { SharedOIDC } from '../auth/oidc.ts';
import { sharedOIDCFindings } from '../auth/oidc-findings.ts';
import { ConfigStatus, configStatus } from '../config-status.ts';
import { defineKind } from '../define.ts';
import { references } from './references.ts';

export const MCPOIDCConfig = defineKind({
  kind: 'MCPOIDCConfig',
  plural: 'mcpoidcconfigs',
  singular: 'mcpoidcconfig',
  shortNames: ['mcpoidc'],
  categories: ['toolhive'],
  description: 'Settings for tokens that servers and proxies of the namespace accept.',
  printerColumns: [
    { name: 'Source', type: 'string', jsonPath: '.spec.type' },
    { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  after: [],
  schema: { spec: SharedOIDC, status: ConfigStatus },
  rules: ({ spec }) => sharedOIDCFindings(spec),
  references,
  status: (self, observed) => configStatus(self, 'oidcConfigRef', observed),
});
