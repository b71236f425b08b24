// The part of the registry service's configuration that says what is served, and where it is from: an entry of
// `registries`.

import { Type } from '../../std/json-schema.ts';
import { CLOSED, Duration, Text, Texts, Url } from './config-words.ts';
import { SOURCE_FORMATS } from './source.ts';

const GitOrigin = Type.Object(
  {
    repository: Type.String({
      pattern: '^(file:///|https?://|git@|ssh://|git://)',
      description: 'URL of the repository: file:///, http(s)://, git@, ssh:// or git://.',
    }),
    branch: Type.Optional(Text('At most one of branch, tag and commit; none means the default branch.')),
    tag: Type.Optional(Text('See branch.')),
    commit: Type.Optional(Text('See branch.')),
    path: Type.Optional(
      Type.String({ pattern: '\\.json$', default: 'registry.json', description: 'JSON file inside the repository.' }),
    ),
    auth: Type.Optional(
      Type.Object(
        {
          username: Type.Optional(Text('User name for HTTP Basic authentication.')),
          passwordFile: Type.Optional(Text('File that holds the password.')),
          sshKeyFile: Type.Optional(Text('File that holds the private SSH key, without a passphrase.')),
          knownHostsFile: Type.Optional(Text('File with the keys of the SSH servers to trust (ssh-keyscan).')),
        },
        { ...CLOSED, description: 'username with passwordFile, or sshKeyFile with knownHostsFile.' },
      ),
    ),
  },
  { ...CLOSED, description: 'A file in a Git repository.' },
);

const FileOrigin = Type.Object(
  {
    path: Type.Optional(Text('File to read. Exactly one of path and url.')),
    url: Type.Optional(Url('URL to read. Exactly one of path and url.')),
    timeout: Type.Optional(Duration('Time limit of reading the url.', { default: '30s' })),
  },
  { ...CLOSED, description: 'A file on this machine, or at a URL.' },
);

const globs = (description: string) =>
  Type.Object(
    {
      include: Type.Optional(Texts('Kept where the list is empty or one entry matches.')),
      exclude: Type.Optional(Texts('Left out where one entry matches; wins over include.')),
    },
    { ...CLOSED, description },
  );

export const Registry = Type.Object(
  {
    name: Text('The {registry_name} of the paths; unique.'),
    format: Type.Optional(Type.Enum([...SOURCE_FORMATS], { description: 'Default: upstream for api, else toolhive.' })),
    git: Type.Optional(GitOrigin),
    api: Type.Optional(
      Type.Object(
        { endpoint: Url('Base URL of another registry; the API path is appended.') },
        { ...CLOSED, description: 'Another registry, by its API.' },
      ),
    ),
    file: Type.Optional(FileOrigin),
    kubernetes: Type.Optional(Type.Object({}, { ...CLOSED, description: 'Accepted; served empty.' })),
    managed: Type.Optional(Type.Object({}, { ...CLOSED, description: 'Accepted; served empty.' })),
    syncPolicy: Type.Optional(
      Type.Object(
        {
          interval: Duration('Time between two reads. Without a syncPolicy the source is read at start and on demand.'),
        },
        { ...CLOSED, description: 'When the source is read again.' },
      ),
    ),
    syncedBy: Type.Optional(
      Type.Enum(['service', 'reconciler'], {
        default: 'service',
        description: 'Who reads the source: this service, or the reconciler that wrote this file.',
      }),
    ),
    filter: Type.Optional(
      Type.Object(
        {
          names: Type.Optional(globs('By the name of the server; globs, whose * crosses slashes.')),
          tags: Type.Optional(globs('By its tags, exactly.')),
        },
        { ...CLOSED, description: 'Which of its servers are served.' },
      ),
    ),
  },
  { ...CLOSED, description: 'Exactly one of git, api, file, kubernetes and managed.' },
);
