// Defines an entry of `registries` in the registry service's configuration: a registry and its source.

import { Type } from '#std/json-schema.ts';
import { fileForm, filled, setting } from '../file-form.ts';
import { CLOSED, Duration, Text, Url } from './config-words.ts';
import { ENDPOINT, filter, GIT, INTERVAL, NAME } from './fields.ts';
import { GIT_SETTINGS } from './file-fields.ts';
import { DEFAULT_FORMAT, FORMAT_OF_APIS, FORMATS_DESCRIBED, SOURCE_FORMATS } from './source.ts';

const GitOrigin = Type.Object(
  {
    ...GIT_SETTINGS,
    auth: Type.Optional(
      Type.Object(
        {
          username: setting(GIT.username),
          passwordFile: Type.Optional(Text('File that holds the password.')),
          sshKeyFile: Type.Optional(Text('File that holds the private SSH key, without a passphrase.')),
          knownHostsFile: Type.Optional(Text('File with the host keys of trusted SSH servers (ssh-keyscan).')),
        },
        { ...CLOSED, description: 'username with passwordFile, or sshKeyFile with knownHostsFile.' },
      ),
    ),
  },
  { ...CLOSED, description: 'A file in a Git repository. At most one of branch, tag and commit.' },
);

const FileOrigin = Type.Object(
  {
    path: Type.Optional(Text('File to read. Exactly one of path and url.')),
    url: Type.Optional(Url('URL to read. Exactly one of path and url.')),
    timeout: Type.Optional(Duration('Time limit of reading the url.', { default: '30s' })),
  },
  { ...CLOSED, description: 'A file on this machine, or at a URL.' },
);

export const Registry = Type.Object(
  {
    name: fileForm(NAME),
    format: Type.Optional(
      Type.Enum([...SOURCE_FORMATS], {
        description: `Format of the data: ${FORMATS_DESCRIBED}. Default: ${FORMAT_OF_APIS} for api, else ${DEFAULT_FORMAT}.`,
      }),
    ),
    git: Type.Optional(GitOrigin),
    api: Type.Optional(
      Type.Object({ endpoint: fileForm(ENDPOINT) }, { ...CLOSED, description: 'Another registry, by its API.' }),
    ),
    file: Type.Optional(FileOrigin),
    kubernetes: Type.Optional(
      Type.Object(
        {},
        {
          ...CLOSED,
          description:
            'The running servers, which a reconciler stores (syncedBy: reconciler). Otherwise the registry is empty.',
        },
      ),
    ),
    managed: Type.Optional(Type.Object({}, { ...CLOSED, description: 'Accepted; served empty.' })),
    syncPolicy: Type.Optional(
      Type.Object(
        {
          interval: fileForm(INTERVAL),
        },
        { ...CLOSED, description: 'When the source is read again. Absent: it is read at start and on demand.' },
      ),
    ),
    syncedBy: Type.Optional(
      Type.Enum(['service', 'reconciler'], {
        default: 'service',
        description: 'Who reads the source: this service, or the reconciler that wrote this file.',
      }),
    ),
    filter: Type.Optional(fileForm(filter(filled))),
  },
  { ...CLOSED, description: 'Exactly one of git, api, file, kubernetes and managed.' },
);
