// Defines the kind MCPWebhookConfig: webhooks that check or change requests. It has no children: skep renders its
// settings into the children of the servers that name it.

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
  description: 'Webhooks that check or change requests before the servers of the namespace receive them.',
  printerColumns: [
    { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  // ToolHive serves only v1alpha1 of this kind. ToolHive's definition can replace skep's definition only if no other
  // version is stored.
  storedVersion: 'v1alpha1',
  after: [],
  schema: { spec: Webhooks, status: ConfigStatus },
  rules: ({ spec }) => webhookFindings(spec),
  references,
  status: (self, observed) => configStatus(self, 'webhookConfigRef', observed),
});
