// Defines the kind MCPExternalAuthConfig: settings for authentication to the servers behind proxies. It has no
// children: skep renders its settings into the children of the resources that name it.

import { ExternalAuth } from '../auth/external-auth.ts';
import { ConfigStatus, configStatus } from '../config-status.ts';
import { defineKind } from '../define.ts';
import { references } from './references.ts';
import { inspect, rules } from './rules.ts';

export const MCPExternalAuthConfig = defineKind({
  kind: 'MCPExternalAuthConfig',
  plural: 'mcpexternalauthconfigs',
  singular: 'mcpexternalauthconfig',
  shortNames: ['extauth', 'mcpextauth'],
  categories: ['toolhive'],
  description: 'Authentication of proxies of the namespace to the servers behind them.',
  printerColumns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  after: [],
  schema: { spec: ExternalAuth, status: ConfigStatus },
  rules,
  inspect,
  references,
  status: (self, observed) => configStatus(self, 'externalAuthConfigRef', observed),
});
