// Defines the kind VirtualMCPServer, which offers the tools of a group's members as the tools of one MCP server.

import { virtualReportName } from '#contracts/tool-lock/report.ts';
import { acceptedAccounts } from '../auth/oidc-settings.ts';
import { defineKind } from '../define.ts';
import { listingOf } from '../listing.ts';
import { endpointAuth } from '../proxy/endpoint.ts';
import { settingsKinds } from '../shared-settings.ts';
import { VIRTUAL_ANNOTATIONS } from './annotations.ts';
import { children, generated } from './children.ts';
import { makes, originOf, tokenSourceOf } from './facts.ts';
import { inspect } from './inspect.ts';
import { offerOf } from './offer.ts';
import { references } from './references.ts';
import { rules } from './rules.ts';
import { VirtualMCPServerSpec, VirtualMCPServerStatus } from './schema.ts';
import { status, written } from './status.ts';

export const VirtualMCPServer = defineKind({
  kind: 'VirtualMCPServer',
  plural: 'virtualmcpservers',
  singular: 'virtualmcpserver',
  shortNames: ['vmcp', 'virtualmcp'],
  categories: ['toolhive'],
  description: 'An MCP server in front of the members of a group.',
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Backends', type: 'integer', jsonPath: '.status.backendCount' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  after: [
    'MCPGroup',
    'MCPServer',
    'MCPRemoteProxy',
    'MCPServerEntry',
    ...settingsKinds(),
    'EmbeddingServer',
    'VirtualMCPCompositeToolDefinition',
  ],
  schema: {
    spec: VirtualMCPServerSpec,
    status: VirtualMCPServerStatus,
    validations: [
      {
        rule: "self.metadata.name.size() <= 50 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        message: 'name must be at most 50 lower-case letters, digits and hyphens: a Service is named after it',
        fieldPath: '.metadata.name',
      },
    ],
  },
  rules,
  annotations: VIRTUAL_ANNOTATIONS,
  inspect,
  references,
  configured: ({ name }) => [{ apiVersion: 'v1', kind: 'ConfigMap', name: virtualReportName(name) }],
  acceptsAccounts: ({ spec }, view) => acceptedAccounts(tokenSourceOf(spec), view) !== undefined,
  exposes: (self, view) => {
    return [
      {
        url: `${originOf(self)}/mcp`,
        transport: 'streamable-http',
        auth: endpointAuth(tokenSourceOf(self.spec), view, self.namespace),
        listing: listingOf(self.resource, view),
        offer: offerOf(self.spec, view),
      },
    ];
  },
  makes,
  children,
  generated,
  status,
  written,
});
