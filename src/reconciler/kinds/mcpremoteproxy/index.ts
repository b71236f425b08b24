// Defines the kind MCPRemoteProxy: a proxy in front of a remote MCP server, which authenticates, filters and records
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
import { BEHIND, madeObjects, proxyUrl, tokenSourceOf } from './facts.ts';
import { references } from './references.ts';
import { inspect, rules } from './rules.ts';
import { MCPRemoteProxySpec, MCPRemoteProxyStatus } from './schema.ts';
import { status } from './status.ts';

export const MCPRemoteProxy = defineKind({
  kind: 'MCPRemoteProxy',
  plural: 'mcpremoteproxies',
  singular: 'mcpremoteproxy',
  shortNames: ['rp', 'mcprp'],
  categories: ['toolhive'],
  description: 'A proxy through which clients reach an MCP server that runs elsewhere.',
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Remote URL', type: 'string', jsonPath: ".spec['remoteUrl','remoteURL']" },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  annotations: annotationsFor(BEHIND),
  after: ['MCPGroup', ...settingsKinds()],
  schema: {
    spec: MCPRemoteProxySpec,
    status: MCPRemoteProxyStatus,
    validations: [
      {
        rule: "self.metadata.name.size() <= 46 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        message: 'name must be at most 46 lower-case letters, digits and hyphens: a Service is named after it',
        fieldPath: '.metadata.name',
      },
    ],
  },
  rules,
  inspect,
  references,
  configured: ({ resource }) => reportNames(resource),
  // The proxy's own image is a setting of the instance, so only images of the pod template are listed.
  images: ({ spec }) => podImages({ container: 'toolhive', image: '' }, spec.podTemplateSpec),
  acceptsAccounts: ({ spec }, view) => acceptedAccounts(tokenSourceOf(spec), view) !== undefined,
  exposes: (self, view) => {
    const { remoteURL, transport, toolConfigRef } = self.spec;
    return [
      {
        url: proxyUrl(self),
        transport,
        auth: endpointAuth(tokenSourceOf(self.spec), view, self.namespace),
        listing: listingOf(self.resource, view),
        offer: {
          type: 'server',
          server: { url: remoteURL },
          shown: shownBy(toolConfigRef, { filter: [], overrides: {} }, view),
        },
      },
    ];
  },
  makes: madeObjects,
  children,
  generated,
  status,
});
