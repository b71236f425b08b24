// Defines the kind MCPRegistry: sources of catalogue data, and the service that serves the data.

import { defineKind } from '../define.ts';
import { REGISTRY_ANNOTATIONS } from './annotations.ts';
import { children } from './children.ts';
import { databaseTarget } from './database.ts';
import { madeObjects } from './facts.ts';
import { configured, references } from './references.ts';
import { inspect, rules } from './rules.ts';
import { MCPRegistrySpec, MCPRegistryStatus } from './schema.ts';
import { sources } from './sources.ts';
import { status } from './status.ts';
import { readRegistry } from './written.ts';

export const MCPRegistry = defineKind({
  kind: 'MCPRegistry',
  plural: 'mcpregistries',
  singular: 'mcpregistry',
  shortNames: ['mcpreg', 'registry'],
  categories: ['toolhive'],
  description: 'Sources of MCP server entries, kept in sync, and the registry service that serves them.',
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Sync', type: 'string', jsonPath: '.status.syncStatus.phase' },
    { name: 'API', type: 'string', jsonPath: '.status.apiStatus.phase' },
    { name: 'Servers', type: 'integer', jsonPath: '.status.syncStatus.serverCount' },
    { name: 'Last Sync', type: 'date', jsonPath: '.status.syncStatus.lastSyncTime' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  annotations: REGISTRY_ANNOTATIONS,
  after: [],
  schema: {
    spec: MCPRegistrySpec,
    status: MCPRegistryStatus,
    validations: [
      {
        rule: "self.metadata.name.size() <= 59 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        message:
          'name must be at most 59 lower-case letters, digits and hyphens, starting with a letter: a Service is named after it',
        fieldPath: '.metadata.name',
      },
    ],
  },
  rules: (self, written) => {
    const { registry, findings, placed } = readRegistry(self);
    return [...findings, ...placed(rules(registry, written))];
  },
  inspect: (self, view) => {
    const { registry, placed } = readRegistry(self);
    return placed(inspect(registry, view));
  },
  references: (self) => {
    const { registry, placed } = readRegistry(self);
    return placed(references(registry));
  },
  configured: (self, settings) => configured(readRegistry(self).registry, settings),
  sources: (self) => sources(readRegistry(self).registry),
  database: (self) => databaseTarget(readRegistry(self).registry),
  enforces: ({ spec }) => spec.enforceServers === true,
  makes: (self) => madeObjects(readRegistry(self).registry),
  children: (self, view, settings) => children(readRegistry(self).registry, view, settings),
  status: (self, observed) => status(readRegistry(self).registry, observed),
});
