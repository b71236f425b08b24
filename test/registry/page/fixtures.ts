// Servers to look at: a few with everything a document can have, and enough others for several pages.

import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { extract } from '#registry/catalogue/entry.ts';
import type { JsonObject } from '#std/json.ts';

const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';

export const CLOCK: JsonObject = {
  name: 'io.acme/clock',
  title: 'Clock',
  description: 'Tells the time in any zone, converts between zones, and counts working days.',
  version: '1.10.0',
  websiteUrl: 'https://acme.example/clock',
  repository: { url: 'https://git.acme.example/clock', source: 'github' },
  packages: [
    {
      registryType: 'oci',
      identifier: 'images.acme.example/clock:1.10.0',
      transport: { type: 'stdio' },
      environmentVariables: [
        { name: 'CLOCK_ZONE', description: 'Zone when none is given', default: 'UTC' },
        { name: 'CLOCK_API_KEY', description: 'Key of the holiday service', isRequired: true, isSecret: true },
        { name: 'CLOCK_STYLE', choices: ['12h', '24h'] },
      ],
    },
    { registryType: 'npm', identifier: '@acme/clock', version: '1.10.0', transport: { type: 'stdio' } },
  ],
  remotes: [
    {
      type: 'streamable-http',
      url: 'https://clock.acme.example/{tenant}/mcp',
      variables: { tenant: { description: 'Your tenant', isRequired: true } },
      headers: [
        { name: 'Authorization', value: 'Bearer {token}', variables: { token: { isSecret: true, isRequired: true } } },
      ],
    },
  ],
  _meta: {
    [PUBLISHER]: {
      'io.acme': {
        clock: {
          tier: 'Official',
          tags: ['time', 'calendar', 'zones'],
          tools: ['now', 'convert', 'working_days'],
          tool_definitions: [
            { name: 'now', description: 'The time now, in the zone that is asked for.' },
            { name: 'convert', description: 'Converts a time from one zone to another.' },
          ],
          overview: 'A clock for agents.\n\nIt knows every zone of the IANA database.',
        },
      },
    },
  },
};

/** `more`: members of the document. */
export function entryOf(document: JsonObject, more: Partial<CatalogueEntry> = {}): CatalogueEntry {
  const { name, version } = document;
  return { name: String(name), version: String(version), document, ...extract(document), ...more };
}

const KINDS = ['Files', 'Mail', 'Wiki', 'Metrics', 'Tickets', 'Search', 'Traces'] as const;

/** What the publishers of some say. */
const SAID: Readonly<Record<number, JsonObject>> = {
  1: {
    metadata: { stars: 12, pulls: 1_234_567 },
    permissions: {
      network: { outbound: { insecure_allow_all: true } },
      read: ['/etc/mail'],
      write: ['/var/mail'],
      privileged: true,
    },
    oauth_config: { issuer: 'https://id.sample.example', scopes: ['mail'] },
  },
  2: { metadata: { stars: 3, last_updated: '2026-10-26T05:00:00Z' } },
  14: { metadata: { stars: 14 } },
};

/** Seven kinds in turn, 70 of them: three pages. */
export function manyEntries(): CatalogueEntry[] {
  return Array.from({ length: 70 }, (_, index) => {
    const kind = KINDS[index % KINDS.length] ?? 'Files';
    const isRemote = index % 3 === 0;
    return entryOf({
      name: `org.sample.${kind.toLowerCase()}/server-${String(index).padStart(2, '0')}`,
      title: `${kind} ${index}`,
      description: `Reads and writes ${kind.toLowerCase()} of your team, with the rights of whoever asks.`,
      version: '0.3.1',
      ...(isRemote
        ? { remotes: [{ type: 'sse', url: `https://mcp.sample.example/${index}` }] }
        : {
            packages: [
              { registryType: 'pypi', identifier: `sample-${index}`, version: '0.3.1', transport: { type: 'stdio' } },
            ],
          }),
      _meta: {
        [PUBLISHER]: {
          'org.sample': {
            main: {
              tier: 'Community',
              status: index === 5 ? 'deprecated' : 'active',
              tags: [kind.toLowerCase(), 'team'],
              tools: ['read', 'write'],
              ...SAID[index],
            },
          },
        },
      },
    });
  });
}
