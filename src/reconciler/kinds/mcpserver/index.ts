// Defines the kind MCPServer: an MCP server in a container, behind a proxy that authenticates, filters and records
// calls.

import { acceptedAccounts } from '../auth/oidc-settings.ts';
import { defineKind } from '../define.ts';
import { listingOf } from '../listing.ts';
import { podImages } from '../pods/images.ts';
import { annotationsFor } from '../proxy/annotations.ts';
import { endpointAuth, shownBy } from '../proxy/endpoint.ts';
import { settingsKinds } from '../shared-settings.ts';
import { reportNames } from '../tools-lock.ts';
import { children, generated } from './children.ts';
import { clientTransport, clientUrl, madeObjects } from './facts.ts';
import { references } from './references.ts';
import { inspect, rules } from './rules.ts';
import { MCPServerSpec, MCPServerStatus } from './schema.ts';
import { status } from './status.ts';

export const MCPServer = defineKind({
  kind: 'MCPServer',
  plural: 'mcpservers',
  singular: 'mcpserver',
  shortNames: ['mcpserver', 'mcpservers'],
  categories: ['toolhive'],
  description: 'An MCP server that runs in a container, and the proxy through which clients reach it.',
  printerColumns: [
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  annotations: annotationsFor('servers on standard streams', 'servers with a network'),
  fieldAdvice: {
    '/spec/command':
      'The image starts its own program with the arguments in args. podTemplateSpec can set command of the container mcp.',
    '/spec/env/*/valueFrom': 'For a value of a Secret, set spec.secrets to [{name, key, targetEnvName}].',
    '/spec/envFrom':
      'For values of a Secret, set spec.secrets to [{name, key, targetEnvName}]. podTemplateSpec can set envFrom of the container mcp.',
    '/spec/limits': 'Set spec.resources.limits.',
    '/spec/requests': 'Set spec.resources.requests.',
    '/spec/ports': 'mcpPort is the port of the server, and proxyPort the port of its proxy.',
  },
  after: ['MCPGroup', ...settingsKinds()],
  schema: {
    spec: MCPServerSpec,
    status: MCPServerStatus,
    validations: [
      {
        rule: "self.metadata.name.size() <= 50 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        message: 'name must be at most 50 lower-case letters, digits and hyphens: Services are named after it',
        fieldPath: '.metadata.name',
      },
    ],
  },
  rules,
  inspect,
  references,
  configured: ({ resource }) => reportNames(resource),
  images: ({ spec }) => podImages({ container: 'mcp', image: spec.image }, spec.podTemplateSpec),
  acceptsAccounts: ({ spec }, view) => acceptedAccounts(spec, view) !== undefined,
  exposes: (self, view) => {
    const { image, args, tools = [], toolConfigRef } = self.spec;
    return [
      {
        url: clientUrl(self),
        transport: clientTransport(self.spec),
        auth: endpointAuth(self.spec, view, self.namespace),
        listing: listingOf(self.resource, view),
        offer: {
          type: 'server',
          server: args === undefined ? { image } : { image, args },
          shown: shownBy(toolConfigRef, { filter: tools, overrides: {} }, view),
        },
      },
    ];
  },
  makes: madeObjects,
  children,
  generated,
  status,
});
