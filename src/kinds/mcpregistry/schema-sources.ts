// The fields of one entry of `spec.registries`. Knows nothing about how sources are read.

import { RESERVED_NAMES } from '../../contracts/registry/config-source-rules.ts';
import { SOURCE_FORMATS } from '../../contracts/registry/source.ts';
import { DURATION_PATTERN } from '../../std/duration.ts';
import { choice, duration, list, object, optional, text } from '../../std/schema.ts';
import { configMapKeySelector, nameField, secretKeySelector } from '../selectors.ts';

const GitAuth = object(
  {
    username: text('User name.', { minLength: 1 }),
    passwordSecretRef: secretKeySelector('Password or token.'),
  },
  'HTTP Basic authentication. Only http and https repositories use it.',
);

/** A path that leads out of its folder would read another registry's data, or the service's own files. */
function fileField(description: string) {
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

const Git = object(
  {
    repository: text('URL of the repository: file:///, http://, https://, git@, ssh:// or git://.', {
      minLength: 1,
      pattern: '^(file:///|https?://|git@|ssh://|git://).*',
    }),
    branch: optional(text("Branch to read. Default: the repository's own.", { minLength: 1 })),
    tag: optional(text('Tag to read.', { minLength: 1 })),
    commit: optional(text('Commit to read.', { minLength: 1 })),
    path: fileField('Path of the JSON file inside the repository.'),
    auth: optional(GitAuth),
  },
  'A file in a Git repository.',
  {
    validations: [
      {
        rule: '[has(self.branch), has(self.tag), has(self.commit)].filter(ref, ref).size() <= 1',
        message: 'branch, tag and commit are mutually exclusive',
      },
    ],
  },
);

const Api = object(
  {
    endpoint: text('Base URL, without a path: /v0/servers is appended.', { minLength: 1, pattern: '^https?://.*' }),
  },
  "Another registry's API.",
);

const Claim = object(
  {
    claimName: nameField('Name of the PersistentVolumeClaim.'),
    path: fileField('Path of the JSON file inside the claim.'),
  },
  'A file on a volume. Several entries may share one claim.',
);

const SyncPolicy = object(
  {
    interval: duration('Time from one sync to the next.', {
      validations: [
        {
          rule: `!self.matches('${DURATION_PATTERN.replaceAll('\\', '\\\\')}') || duration(self) > duration('0s')`,
          message: 'interval must be longer than 0s',
        },
      ],
    }),
  },
  'Syncs at an interval. Without it: once, and whenever a sync is asked for.',
);

const Filter = object(
  {
    names: optional(
      object(
        {
          include: optional(list(text('A glob; * also matches /.'), 'Kept when the list is empty or one matches.')),
          exclude: optional(list(text('A glob; * also matches /.'), 'Left out when one matches; wins over include.')),
        },
        'By name.',
      ),
    ),
    tags: optional(
      object(
        {
          include: optional(list(text('A tag.'), 'Kept when the list is empty or one tag is in it.')),
          exclude: optional(list(text('A tag.'), 'Left out when one tag is in it; wins over include.')),
        },
        'By tag.',
      ),
    ),
  },
  'Which entries are kept. Names and tags must both agree.',
);

/** One registry: exactly one place to read from. */
export const Registry = object(
  {
    name: text('Name of the registry, unique within the MCPRegistry. Clients read it at /{name}/v0.1/servers.', {
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
    }),
    format: choice("Format of the data: the platform's own, or the MCP registry's.", SOURCE_FORMATS, {
      default: 'toolhive',
    }),
    configMapRef: optional(configMapKeySelector('A file in a ConfigMap.')),
    git: optional(Git),
    api: optional(Api),
    pvcRef: optional(Claim),
    syncPolicy: optional(SyncPolicy),
    filter: optional(Filter),
  },
  'One registry: where its data is from, and which of it is served.',
  {
    validations: [
      {
        rule: '[has(self.configMapRef), has(self.git), has(self.api), has(self.pvcRef)].filter(it, it).size() == 1',
        message: 'exactly one of configMapRef, git, api and pvcRef must be set',
      },
    ],
  },
);
