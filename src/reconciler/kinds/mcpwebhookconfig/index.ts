// MCPWebhookConfig: webhooks that are asked about requests, in one place for all servers that use the same. It has no
// children: its settings are rendered into the children of the servers that name it.

import { ConfigStatus, configStatus } from '../config-status.ts';
import { defineKind } from '../define.ts';
import { webhookFindings } from '../proxy/webhook-settings.ts';
import { Webhooks } from '../proxy/webhooks.ts';
import { references } from './references.ts';

export const MCPWebhookConfig = defineKind({
  kind: 'MCPWebhookConfig',
  plural: 'mcpwebhookconfigs',
  singular: 'mcpwebhookconfig',
  shortNames: ['mwc'],
  categories: ['toolhive'],
  description: 'Webhooks that are asked about requests before they reach servers of the namespace.',
  printerColumns: [
    { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  // The existing platform serves no other version of this kind, so its definition can replace ours again.
  storedVersion: 'v1alpha1',
  after: [],
  schema: { spec: Webhooks, status: ConfigStatus },
  rules: ({ spec }) => webhookFindings(spec),
  references,
  status: (self, observed) => configStatus(self, 'webhookConfigRef', observed),
});
