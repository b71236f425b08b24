// Defines fields that an MCPRegistry shares with the configuration of its service, in the form for resources.

import { addressed } from '#std/address/address.ts';
import { DURATION_PATTERN } from '#std/duration.ts';
import { inFile } from '#std/file-words.ts';
import type { TString } from '#std/json-schema.ts';
import { bool, duration, list, object, optional, text } from '#std/schema.ts';
import { HTTP_URL } from './config-words.ts';

/** Names that registries must not have, because other paths of the service begin with them. */
export const RESERVED_NAMES: readonly string[] = [
  'health',
  'readiness',
  'version',
  'openapi.json',
  'openapi.yaml',
  '.well-known',
  'v1',
  'registry',
  'extension',
  'metrics',
];

export const NAME = text(
  'Name of the registry, unique within the MCPRegistry. Clients read it at /{name}/v0.1/servers.',
  {
    minLength: 1,
    maxLength: 253,
    validations: [
      {
        rule: `!(self in [${RESERVED_NAMES.map((name) => `'${name}'`).join(', ')}])`,
        message: `name must not be one of the service's own paths: ${RESERVED_NAMES.join(', ')}`,
      },
      {
        rule: "self != '.' && self != '..' && !self.matches('[\\\\s\\\\x00-\\\\x1f\\\\x7f/]')",
        message: 'name must not be . or .., and must hold neither / nor spaces: it is part of paths',
      },
    ],
  },
);

/**
 * Returns a field with an http or https URL. The service also requires a host: the finding `registry-service-config`
 * reports URLs without a host.
 */
function url(description: string) {
  return inFile(text(`${description} An http or https URL.`, { minLength: 1, pattern: '^https?://.*' }), {
    pattern: HTTP_URL,
  });
}

/**
 * Returns a field with a path inside a folder. A path out of the folder would lead to data of other registries, or to
 * files of the service.
 */
export function fileField(description: string) {
  return text(description, {
    default: 'registry.json',
    pattern: '^.*\\.json$',
    maxLength: 1024,
    validations: [
      {
        rule: "!self.startsWith('/') && !self.split('/').exists(part, part in ['', '.', '..'])",
        message: 'path must be relative, without empty parts and without . and ..',
      },
    ],
  });
}

export const GIT = {
  repository: addressed(
    text('URL of the repository: file:///, http://, https://, git@, ssh:// or git://.', {
      minLength: 1,
      pattern: '^(file:///|https?://|git@|ssh://|git://).*',
    }),
    'repository',
  ),
  branch: text("Branch to read. Default: the repository's own.", { minLength: 1 }),
  tag: text('Tag to read.', { minLength: 1 }),
  commit: text('Commit to read.', { minLength: 1 }),
  path: fileField('Path of the JSON file inside the repository; it ends in .json.'),
  username: text('User name for HTTP Basic authentication.', { minLength: 1 }),
};

export const ENDPOINT = url('Base URL, without a path: /v0/servers is appended.');

export const INTERVAL = duration('Time from one sync to the next, such as 1h30m.', {
  validations: [
    {
      rule: `!self.matches('${DURATION_PATTERN.replaceAll('\\', '\\\\')}') || duration(self) > duration('0s')`,
      message: 'interval must be longer than 0s',
    },
  ],
});

/** `entry` returns the schema of a list's entries. */
export function filter(entry: (schema: TString) => TString) {
  const glob = entry(text('A glob; * also matches /.'));
  const tag = entry(text('A tag.'));
  return object(
    {
      names: optional(
        object(
          {
            include: optional(list(glob, 'Entries are kept if the list is empty or an item matches.')),
            exclude: optional(list(glob, 'Entries are left out if an item matches; takes precedence over include.')),
          },
          'Filter by served name: an entry `gamma` of the format `toolhive` is served as `io.github.stacklok/gamma`, so write `*/gamma`.',
        ),
      ),
      tags: optional(
        object(
          {
            include: optional(list(tag, 'Entries are kept if the list is empty or contains one of their tags.')),
            exclude: optional(
              list(tag, 'Entries are left out if the list contains one of their tags; takes precedence over include.'),
            ),
          },
          'Filter by tag.',
        ),
      ),
    },
    'Which entries are kept. Names and tags must both match.',
  );
}

/** Fields of a provider whose tokens are accepted. */
export const PROVIDER = {
  name: text('Name of the provider, for logs.', { minLength: 1 }),
  issuerUrl: url('Issuer of the tokens, exactly as their iss claim has it.'),
  jwksUrl: url('URL of the signing keys. If set, discovery is skipped.'),
  audience: text('Audience that tokens must have.', { minLength: 1 }),
  clientId: text('Client id for introspection.'),
  introspectionUrl: url('URL at which opaque tokens are checked (RFC 7662). Absent: only JWTs are accepted.'),
  allowPrivateIP: bool('True: the provider may be at a private address.', false),
};

export const OAUTH_DEFAULTS = { realm: 'mcp-registry', scopesSupported: ['mcp-registry:read', 'mcp-registry:write'] };

export const OAUTH = {
  scopesSupported: list(
    inFile(text('A scope (RFC 6749).'), { pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }),
    'Scopes to advertise to clients.',
    {
      default: OAUTH_DEFAULTS.scopesSupported,
    },
  ),
  realm: inFile(text('Realm of the WWW-Authenticate header, in ASCII.', { default: OAUTH_DEFAULTS.realm }), {
    pattern: '^[\\x20-\\x7e]+$',
  }),
};
