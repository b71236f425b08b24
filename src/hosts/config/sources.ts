// Defines the part of skep.yaml about the sources that declare the fleet: repositories, commits, credentials, limits.

import { NAME_PATTERN } from '#reconciler/run/read/substitute/expressions.ts';
import { addressed } from '#std/address/address.ts';
import { globMatches, parseGlob } from '#std/patterns/glob.ts';
import { bool, choice, integer, list, object, optional, type Static, text, textMap } from '#std/schema.ts';
import { type Rule, withRules } from './rules.ts';
import { circularSources, unknownSources } from './source-order.ts';

const PASSWORD = {
  username: optional(text('User name for HTTP Basic authentication.', { minLength: 1 })),
  passwordFile: optional(text('File with the password or token; read again each time.', { minLength: 1 })),
};

const KEY = {
  sshKeyFile: optional(text('File with the private SSH key, without a passphrase.', { minLength: 1 })),
  knownHostsFile: optional(
    text('File with the host keys of trusted SSH servers (from ssh-keyscan).', { minLength: 1 }),
  ),
};

const PAIRS = object(
  { ...PASSWORD, ...KEY },
  'Credentials for the repository; default: the matching credentials in git.credentials.',
);

const IN_PAIRS: readonly Rule<Static<typeof PAIRS>>[] = [
  {
    holds: ({ username, passwordFile, sshKeyFile, knownHostsFile }) =>
      (username === undefined) === (passwordFile === undefined) &&
      (sshKeyFile === undefined) === (knownHostsFile === undefined),
    message: 'username goes with passwordFile, sshKeyFile with knownHostsFile',
  },
  {
    holds: ({ passwordFile, sshKeyFile }) => passwordFile !== undefined || sshKeyFile !== undefined,
    message: 'give username and passwordFile, or sshKeyFile and knownHostsFile',
  },
];

const AUTH = withRules(PAIRS, IN_PAIRS);

const ALLOW = object(
  {
    namespaces: list(
      text('A name, or a glob such as team-*.'),
      'Namespaces of its objects; * also means objects without a namespace.',
      {
        default: ['*'],
      },
    ),
    kinds: list(text('Such as MCPServer, MCP*, Deployment.apps or *.toolhive.stacklok.dev.'), 'Kinds of its objects.', {
      default: ['*'],
    }),
  },
  'Objects that the source may declare. Other declared objects are problems, and their live objects are kept unchanged.',
);

const VERIFY = object(
  {
    mode: choice(
      'Objects that must be signed: the commit, the annotated tag that leads to it, or both.',
      ['head', 'tag', 'both'],
      {
        default: 'head',
      },
    ),
    keys: list(text('A file.', { minLength: 1 }), 'Public keys: SSH (.pub, allowed_signers) or OpenPGP (.asc, .gpg).', {
      minItems: 1,
    }),
  },
  'Commits without a valid signature by one of the keys are refused; the last valid one stays.',
);

const DECRYPTION = object(
  {
    ageKeyFile: text(
      'File of private age keys (age-keygen), one a line; read again each time. Only its user may read it.',
      {
        minLength: 1,
      },
    ),
  },
  'Decryption of Secrets that are encrypted with SOPS. If absent, such a Secret is a problem, and its live object is kept unchanged.',
);

const SUBSTITUTE = withRules(
  object(
    {
      values: optional(textMap('Values by name of the variable; they take precedence over the values of from.')),
      from: list(
        object(
          {
            kind: choice('Kind of the object.', ['ConfigMap', 'Secret']),
            name: text('Name of the object.', { minLength: 1 }),
            optional: bool('Whether the object may be missing.', false),
          },
          'An object whose keys are names of variables.',
        ),
        'ConfigMaps and Secrets in the home namespace, read for each run; later ones take precedence. The value of a Secret may be used in Secrets only.',
        { default: [] },
      ),
    },
    `Values for \${NAME} and \${NAME:=default} in its manifests. Without this setting expressions stay.`,
  ),
  [
    {
      holds: ({ values = {} }) => Object.keys(values).every((name) => new RegExp(NAME_PATTERN).test(name)),
      message: 'names of variables consist of letters, digits and _, and do not begin with a digit',
      at: '/values',
    },
  ],
);

const REPOSITORY_PATTERN = '^((https?|ssh|git|file)://|([^/@:]+@)?[^/@:]+:/?[^/])';

const SOURCE = withRules(
  object(
    {
      name: text('Name of the source; on every object that it declares, as label skep.dev/source.', {
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      }),
      repository: addressed(
        text('Git repository: https://, http://, ssh://, user@host:path, git:// or file:/// (outbound.allowFiles).', {
          minLength: 1,
          pattern: REPOSITORY_PATTERN,
        }),
        'repository',
      ),
      branch: optional(
        text('Branch to follow. At most one of branch, tag, semver and commit; none means the default branch.'),
      ),
      tag: optional(text('Tag to follow.')),
      semver: optional(
        text('Range of versions, such as >=1.2 <2: the highest tag in it is followed.', { minLength: 1 }),
      ),
      commit: optional(text('Full commit id to stay at.', { pattern: '^[0-9a-f]{40}$' })),
      path: text('Folder inside the repository; every *.yaml, *.yml and *.json below it is read.', { default: '' }),
      ignore: list(text('A glob such as **/drafts/**; * crosses folders.'), 'Paths below path that are not read.', {
        default: [],
      }),
      namespace: optional(
        text('Namespace of namespaced objects without a namespace; absent: such objects are problems.', {
          maxLength: 63,
          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        }),
      ),
      substitute: optional(SUBSTITUTE),
      dependsOn: list(
        text('Name of another source.', { minLength: 1 }),
        'Sources that must be applied and ready before objects of this one are changed or deleted.',
        { default: [] },
      ),
      auth: optional(AUTH),
      verify: optional(VERIFY),
      decryption: optional(DECRYPTION),
      allow: optional(ALLOW),
      serviceAccount: optional(
        text('Service account to change its objects as: name, in the home namespace, or namespace/name.', {
          maxLength: 317,
          pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[a-z0-9]([-.a-z0-9]*[a-z0-9])?$',
        }),
      ),
    },
    'A source that declares a part of the fleet.',
  ),
  [
    {
      holds: ({ branch, tag, semver, commit }) =>
        [branch, tag, semver, commit].filter((ref) => ref !== undefined).length <= 1,
      message: 'at most one of branch, tag, semver and commit',
    },
    {
      holds: ({ verify, tag, semver }) =>
        verify === undefined || verify.mode === 'head' || tag !== undefined || semver !== undefined,
      message: 'signatures of tags can be required only if a tag is followed, by tag or semver',
      at: '/verify/mode',
    },
    {
      holds: ({ namespace, allow }) =>
        namespace === undefined || allow === undefined || allow.namespaces.some((glob) => matches(glob, namespace)),
      message: 'allow.namespaces of the same source leaves this namespace out: add the namespace, or change it',
      at: '/namespace',
    },
  ],
);

export const SOURCES = withRules(
  list(
    SOURCE,
    'Sources of the fleet; empty with scope cluster: only custom resources that other managers apply are reconciled.',
    {
      keys: ['name'],
    },
  ),
  [
    { faults: unknownSources, message: 'dependsOn names other sources of the same file' },
    { faults: circularSources, message: 'no source depends on itself through dependsOn of other sources' },
  ],
);

function matches(pattern: string, name: string): boolean {
  const glob = parseGlob(pattern);
  return glob !== undefined && globMatches(glob, name);
}

const HOST_CREDENTIALS = withRules(
  object(
    {
      host: text('Host of the URL, without a port.', { minLength: 1, pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^/:@[\\]]+)$' }),
      scheme: optional(
        choice(
          'Scheme of the repository; absent: ssh for a key, else https. Credentials are sent over http only if this is http.',
          ['https', 'http', 'ssh'],
        ),
      ),
      port: optional(integer("Port of the URL; absent: the scheme's own.", { minimum: 1, maximum: 65_535 })),
      ...PASSWORD,
      ...KEY,
      namespaces: list(
        text('A name, or a glob such as team-*.'),
        'Namespaces whose MCPRegistries may use the credentials, and so everyone who may create an MCPRegistry there; empty: only sources of skep.yaml.',
        { default: [] },
      ),
    },
    'Credentials for all repositories of a host.',
  ),
  IN_PAIRS,
);

export const GIT = object(
  {
    credentials: list(
      HOST_CREDENTIALS,
      'Credentials for repositories whose source, or MCPRegistry, has no credentials.',
      { default: [] },
    ),
  },
  'Settings for all Git repositories.',
  { default: {} },
);

export type HostCredentials = Static<typeof HOST_CREDENTIALS>;
