// Tests registry configuration files: accepted files with their settings, and refused files with the places of their
// faults. In one file, because the cases are one table.

import { expect, test } from 'vitest';
import { formatProblem } from '#std/problem.ts';
import { readRegistryConfig } from './config-read.ts';
import { RESERVED_NAMES } from './fields.ts';
import type { RegistryConfig } from './service.ts';
import { FORMAT_OF_APIS, SOURCE_FORMATS } from './source.ts';

/** Compares the problems or warnings with `expected`, one text per problem. */
function check(text: string, expected: readonly string[]): void {
  const result = readRegistryConfig(text, 'config.yaml');
  const found = 'problems' in result ? result.problems : result.warnings;
  expect(found.map(formatProblem)).toEqual(expected);
}

function config(text: string): RegistryConfig {
  const result = readRegistryConfig(text, 'config.yaml');
  if ('problems' in result) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.config;
}

const GENERATED = `registryName: tools
registries:
  - name: default
    format: upstream
    kubernetes: {}
  - name: catalogue
    format: toolhive
    git:
      repository: https://git.example.com/registry.git
      branch: main
      path: pkg/registry.json
      auth:
        username: bot
        passwordFile: /secrets/git/password
    syncPolicy:
      interval: 1h30m
    filter:
      names:
        include: ["io.github.acme/*"]
        exclude: ["*-beta"]
      tags:
        include: [database]
        exclude: [deprecated]
  - name: mounted
    format: toolhive
    file:
      path: /config/registry/mounted/registry.json
database:
  host: postgres
  port: 5432
  user: db_app
  migrationUser: db_migrator
  database: registry
  sslMode: prefer
  maxOpenConns: 10
  maxIdleConns: 2
  connMaxLifetime: 30m
auth:
  mode: oauth
  oauth:
    resourceUrl: https://registry.example.com
    realm: mcp-registry
    scopesSupported: ["mcp-registry:read"]
    providers:
      - name: kubernetes
        issuerUrl: https://kubernetes.default.svc
        jwksUrl: https://kubernetes.default.svc/openid/v1/jwks
        audience: registry
        caCertPath: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
        authTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
        allowPrivateIP: true
`;

test("accepts a file that ToolHive's operator has written, unchanged", () => {
  check(GENERATED, [
    'config.yaml:3:5: warning registry-config-no-effect: /registries/0: nothing is read for "default"; it is served empty',
  ]);
  expect(config(GENERATED)).toMatchInlineSnapshot(`
    {
      "auth": {
        "mode": "oauth",
        "oauth": {
          "enforceScopes": false,
          "providers": [
            {
              "allowPrivateIP": true,
              "audience": "registry",
              "authTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
              "caCertPath": "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
              "issuerUrl": "https://kubernetes.default.svc",
              "jwksUrl": "https://kubernetes.default.svc/openid/v1/jwks",
              "name": "kubernetes",
            },
          ],
          "realm": "mcp-registry",
          "resourceUrl": "https://registry.example.com",
          "scopesSupported": [
            "mcp-registry:read",
          ],
        },
        "publicPaths": [],
      },
      "dataDir": undefined,
      "database": {
        "connMaxLifetimeMs": 1800000,
        "database": "registry",
        "host": "postgres",
        "maxIdleConns": 2,
        "maxOpenConns": 10,
        "migrationUser": "db_migrator",
        "port": 5432,
        "sslMode": "prefer",
        "user": "db_app",
      },
      "displayName": undefined,
      "limits": {
        "connections": 10000,
        "headerBytes": 32768,
        "requestTimeoutMs": 10000,
        "requestsPerMinute": undefined,
        "shutdownGraceMs": 5000,
        "trustedProxies": [],
      },
      "listen": {
        "host": "0.0.0.0",
        "port": 8080,
      },
      "metrics": undefined,
      "namespace": "default",
      "outbound": {
        "allowFiles": false,
        "allowPrivate": [],
      },
      "page": true,
      "registries": [
        {
          "filter": {
            "names": {
              "exclude": [],
              "include": [],
            },
            "tags": {
              "exclude": [],
              "include": [],
            },
          },
          "format": "upstream",
          "intervalMs": undefined,
          "name": "default",
          "origin": {
            "type": "kubernetes",
          },
          "syncedBy": "service",
        },
        {
          "filter": {
            "names": {
              "exclude": [
                "*-beta",
              ],
              "include": [
                "io.github.acme/*",
              ],
            },
            "tags": {
              "exclude": [
                "deprecated",
              ],
              "include": [
                "database",
              ],
            },
          },
          "format": "toolhive",
          "intervalMs": 5400000,
          "name": "catalogue",
          "origin": {
            "auth": {
              "passwordFile": "/secrets/git/password",
              "username": "bot",
            },
            "branch": "main",
            "path": "pkg/registry.json",
            "repository": "https://git.example.com/registry.git",
            "type": "git",
          },
          "syncedBy": "service",
        },
        {
          "filter": {
            "names": {
              "exclude": [],
              "include": [],
            },
            "tags": {
              "exclude": [],
              "include": [],
            },
          },
          "format": "toolhive",
          "intervalMs": undefined,
          "name": "mounted",
          "origin": {
            "path": "/config/registry/mounted/registry.json",
            "type": "file",
          },
          "syncedBy": "service",
        },
      ],
      "registryName": "tools",
      "running": true,
    }
  `);
});

test('all settings except the registries and the auth mode have defaults', () => {
  expect(config('registries: [{name: a, managed: {}}]\nauth: {mode: anonymous}\n')).toMatchInlineSnapshot(`
    {
      "auth": {
        "mode": "anonymous",
        "syncTokenFile": undefined,
      },
      "dataDir": undefined,
      "database": {
        "connMaxLifetimeMs": 1800000,
        "database": "registry",
        "host": "postgres",
        "maxIdleConns": 2,
        "maxOpenConns": 10,
        "migrationUser": "db_migrator",
        "port": 5432,
        "sslMode": "prefer",
        "user": "db_app",
      },
      "displayName": undefined,
      "limits": {
        "connections": 10000,
        "headerBytes": 32768,
        "requestTimeoutMs": 10000,
        "requestsPerMinute": undefined,
        "shutdownGraceMs": 5000,
        "trustedProxies": [],
      },
      "listen": {
        "host": "0.0.0.0",
        "port": 8080,
      },
      "metrics": undefined,
      "namespace": "default",
      "outbound": {
        "allowFiles": false,
        "allowPrivate": [],
      },
      "page": true,
      "registries": [
        {
          "filter": {
            "names": {
              "exclude": [],
              "include": [],
            },
            "tags": {
              "exclude": [],
              "include": [],
            },
          },
          "format": "toolhive",
          "intervalMs": undefined,
          "name": "a",
          "origin": {
            "type": "managed",
          },
          "syncedBy": "service",
        },
      ],
      "registryName": "default",
      "running": false,
    }
  `);
});

test('joins the public paths of auth and auth.oauth', () => {
  const { auth } = config(
    `${GENERATED.replace('  oauth:', '  publicPaths: [/a, /b]\n  oauth:\n    publicPaths: [/b, /c]')}`,
  );
  expect(auth).toMatchObject({ mode: 'oauth', publicPaths: ['/a', '/b', '/c'] });
});

test('drops a kubernetes entry if another registry has its name', () => {
  const { registries } = config(`registries:
  - {name: default, format: upstream, kubernetes: {}}
  - {name: default, file: {path: /data/registry.json}}
auth: {mode: anonymous}
`);
  expect(registries.map(({ name, origin }) => `${name} ${origin.type}`)).toEqual(['default file']);
});

test('reads an api source in the upstream format', () => {
  const { registries } = config(
    'registries: [{name: a, api: {endpoint: "https://r.example"}}]\nauth: {mode: anonymous}',
  );
  expect(registries[0]).toMatchObject({ format: 'upstream', origin: { type: 'api', endpoint: 'https://r.example' } });
});

const ANONYMOUS = 'auth: {mode: anonymous}\n';
const A = 'registries: [{name: a, file: {path: r.json}}]\n';

test.each([
  { reason: 'empty', text: '', expected: ['config.yaml:1:1: error registry-config-syntax: The file is empty.'] },
  {
    reason: 'broken YAML',
    text: 'registries: [',
    expected: ['config.yaml:1:14: error yaml-syntax: A [ above is not closed before this place: write the missing ].'],
  },
  {
    reason: 'two documents',
    text: `${A}${ANONYMOUS}---\na: 1\n`,
    expected: ['config.yaml:1:1: error registry-config-syntax: The file holds more than one document.'],
  },
  {
    reason: 'no registries',
    text: `registries: []\n${ANONYMOUS}`,
    expected: ['config.yaml:1:13: error registry-config-schema: /registries: must NOT have fewer than 1 items'],
  },
  {
    reason: 'registries missing',
    text: ANONYMOUS,
    expected: ['config.yaml:1:1: error registry-config-schema: registries is missing'],
  },
  {
    reason: 'unknown field',
    text: `${A}${ANONYMOUS}databse: {}\n`,
    expected: ['config.yaml:3:1: error registry-config-schema: /databse: unknown field. Did you mean "database"?'],
  },
  {
    reason: 'unknown mode',
    text: `${A}auth:\n  mode: open\n`,
    expected: ['config.yaml:3:9: error registry-config-schema: /auth/mode: must be one of oauth, anonymous'],
  },
  {
    reason: 'a port out of range',
    text: `${A}${ANONYMOUS}database:\n  port: 70000\n`,
    expected: ['config.yaml:4:9: error registry-config-schema: /database/port: must be <= 65535'],
  },
  {
    reason: 'a password in the file',
    text: `${A}${ANONYMOUS}database: {password: x}\n`,
    expected: ['config.yaml:3:12: error registry-config-schema: /database/password: unknown field.'],
  },
  {
    reason: 'a bad interval',
    text: `registries:\n  - name: a\n    file: {path: x}\n    syncPolicy: {interval: 1 hour}\n${ANONYMOUS}`,
    expected: [
      'config.yaml:4:28: error registry-config-schema: /registries/0/syncPolicy/interval: is malformed. Time from one sync to the next, such as 1h30m.',
    ],
  },
  {
    reason: 'no source',
    text: `registries: [{name: a}]\n${ANONYMOUS}`,
    expected: [
      'config.yaml:1:14: error registry-config-origin: /registries/0: exactly one of git, api, file, kubernetes, managed is needed; there is none',
    ],
  },
  {
    reason: 'two sources',
    text: `registries: [{name: a, managed: {}, file: {path: x}}]\n${ANONYMOUS}`,
    expected: [
      'config.yaml:1:14: error registry-config-origin: /registries/0: exactly one of git, api, file, kubernetes, managed is needed; there is file and managed',
      'config.yaml:1:14: warning registry-config-no-effect: /registries/0: nothing is read for "a"; it is served empty',
    ],
  },
  {
    reason: 'a malformed pattern and an interval of nothing',
    text: `registries:\n  - name: a\n    file: {path: x.json}\n    syncPolicy: {interval: 0s}\n    filter: {names: {include: ['io.*', '[']}}\n${ANONYMOUS}`,
    expected: [
      'config.yaml:4:28: error registry-config-interval: /registries/0/syncPolicy/interval: must be longer than 0s',
      'config.yaml:5:40: error registry-config-glob: /registries/0/filter/names/include/1: "[" is not a glob: brackets, braces and ranges must be complete, and \\ cannot be last',
    ],
  },
  {
    reason: 'branch and tag',
    text: `registries:\n  - name: a\n    git:\n      repository: https://g.example/r\n      branch: b\n      tag: t\n${ANONYMOUS}`,
    expected: [
      'config.yaml:4:7: error registry-config-exclusive: /registries/0/git: branch and tag exclude each other',
    ],
  },
  {
    text: `registries:\n  - name: a\n    git:\n      repository: ssh://g.example/r\n      auth: {sshKeyFile: k, username: u}\n${ANONYMOUS}`,
    expected: [
      'config.yaml:5:13: error registry-config-exclusive: /registries/0/git/auth: needs username and passwordFile, or sshKeyFile and knownHostsFile',
    ],
    reason: 'halves of two kinds of credentials',
  },
  {
    reason: 'file with path and url',
    text: `registries: [{name: a, file: {path: x, url: "https://x.example"}}]\n${ANONYMOUS}`,
    expected: [
      'config.yaml:1:30: error registry-config-exclusive: /registries/0/file: exactly one of path and url is needed',
    ],
  },
  ...SOURCE_FORMATS.filter((format) => format !== FORMAT_OF_APIS).map((format) => ({
    reason: `api in the format ${format}`,
    text: `registries: [{name: a, format: ${format}, api: {endpoint: "https://x.example"}}]\n${ANONYMOUS}`,
    expected: [
      'config.yaml:1:32: warning registry-config-no-effect: /registries/0/format: has no effect: an api source is always read in the upstream format',
    ],
  })),
  {
    reason: 'an interval that is shorter than the service looks',
    text: `registries:\n  - {name: a, file: {path: x.json}, syncPolicy: {interval: 2s}}\n  - {name: b, file: {path: x.json}, syncedBy: reconciler, syncPolicy: {interval: 2s}}\n${ANONYMOUS}`,
    expected: [
      'config.yaml:2:60: warning registry-config-no-effect: /registries/0/syncPolicy/interval: counts as 10s, the shortest interval',
    ],
  },
  {
    reason: 'duplicate names',
    text: `registries:\n  - {name: a, managed: {}}\n  - {name: a, managed: {}}\n${ANONYMOUS}`,
    expected: [
      'config.yaml:2:5: warning registry-config-no-effect: /registries/0: nothing is read for "a"; it is served empty',
      'config.yaml:3:5: warning registry-config-no-effect: /registries/1: nothing is read for "a"; it is served empty',
      'config.yaml:3:12: error registry-config-name-duplicate: /registries/1/name: another registry is named "a"',
    ],
  },
  {
    reason: 'a name with half a surrogate pair, which URLs cannot contain',
    text: `registries: [{name: "a\\ud800", file: {path: /data/a.json}, syncPolicy: {interval: 1h}}]\n${ANONYMOUS}`,
    expected: [
      'config.yaml:1:21: error registry-config-name-unusable: /registries/0/name: "a\ud800" cannot be a part of a URL\'s path',
    ],
  },
  {
    reason: 'a name that cannot be in a URL',
    text: `registries: [{name: "..", managed: {}}, {name: "a b", managed: {}}]\n${ANONYMOUS}`,
    expected: [
      'config.yaml:1:14: warning registry-config-no-effect: /registries/0: nothing is read for ".."; it is served empty',
      'config.yaml:1:21: error registry-config-name-unusable: /registries/0/name: ".." cannot be a part of a URL\'s path',
      'config.yaml:1:41: warning registry-config-no-effect: /registries/1: nothing is read for "a b"; it is served empty',
      'config.yaml:1:48: error registry-config-name-unusable: /registries/1/name: "a b" cannot be a part of a URL\'s path',
    ],
  },
  {
    reason: 'no auth at all',
    text: A,
    expected: [
      'config.yaml:1:1: error registry-config-providers-missing: no auth.mode is given, so the mode is oauth, which needs auth.oauth with a resourceUrl and at least one provider; for a service without access control write auth: {mode: anonymous}',
    ],
  },
  {
    reason: 'auth without a mode',
    text: `${A}auth: {}\n`,
    expected: [
      'config.yaml:2:7: error registry-config-providers-missing: /auth: no auth.mode is given, so the mode is oauth, which needs auth.oauth with a resourceUrl and at least one provider; for a service without access control write auth: {mode: anonymous}',
    ],
  },
  {
    reason: 'oauth without providers',
    text: `${A}auth:\n  mode: oauth\n  oauth:\n    resourceUrl: https://r.example\n    providers: []\n`,
    expected: [
      'config.yaml:3:3: error registry-config-providers-missing: /auth: mode oauth needs auth.oauth with a resourceUrl and at least one provider; for a service without access control write auth: {mode: anonymous}',
    ],
  },
  {
    reason: 'oauth without resourceUrl',
    text: `${A}auth:\n  oauth:\n    providers: [{name: p, issuerUrl: "https://i.example", audience: a}]\n`,
    expected: ['config.yaml:3:3: error registry-config-schema: /auth/oauth: resourceUrl is missing'],
  },
  {
    reason: 'invalid URLs of several kinds',
    text: `${A}auth:\n  oauth:\n    resourceUrl: https://r.example/#x\n    providers:\n      - {name: p, issuerUrl: "https://u:p@i.example", jwksUrl: "https://[", audience: a}\n`,
    expected: [
      'config.yaml:4:18: error registry-config-url: /auth/oauth/resourceUrl: must not have a fragment',
      'config.yaml:6:30: error registry-config-url: /auth/oauth/providers/0/issuerUrl: must not hold a user name or password; secrets are read from files',
      'config.yaml:6:64: error registry-config-url: /auth/oauth/providers/0/jwksUrl: is not a URL',
    ],
  },
  {
    reason: 'a public path without a slash',
    text: `${A}auth:\n  publicPaths: [docs, /]\n  oauth:\n    resourceUrl: https://r.example\n    providers: [{name: p, issuerUrl: "https://i.example", audience: a}]\n`,
    expected: [
      'config.yaml:3:17: error registry-config-public-path: /auth/publicPaths/0: "docs" must start with /',
      'config.yaml:3:23: warning registry-config-public-path: /auth/publicPaths/1: "/" makes every path public',
    ],
  },
  {
    reason: 'settings without effect',
    text: `${A}${ANONYMOUS}telemetry: {enabled: true}\ndatabase: {maxMetaSize: 1}\n`,
    expected: [
      'config.yaml:3:12: warning registry-config-no-effect: /telemetry: has no effect',
      'config.yaml:4:25: warning registry-config-no-effect: /database/maxMetaSize: has no effect',
    ],
  },
  {
    reason: 'a token for manual syncs although tokens are required anyway',
    text: `${A}auth:\n  syncTokenFile: f\n  oauth:\n    resourceUrl: https://r.example\n    providers: [{name: p, issuerUrl: "https://i.example", audience: a}]\n`,
    expected: [
      'config.yaml:3:18: warning registry-config-no-effect: /auth/syncTokenFile: has no effect if tokens are required',
    ],
  },
  {
    reason: 'a secret without its client',
    text: `${A}auth:\n  oauth:\n    resourceUrl: https://r.example\n    providers: [{name: p, issuerUrl: "https://i.example", audience: a, clientSecretFile: f}]\n`,
    expected: [
      'config.yaml:5:90: warning registry-config-no-effect: /auth/oauth/providers/0/clientSecretFile: has no effect without clientId',
    ],
  },
  {
    reason: 'an enforced scope that is not announced',
    text: `${A}auth:\n  oauth:\n    enforceScopes: true\n    scopesSupported: [mcp-registry:read]\n    resourceUrl: https://r.example\n    providers: [{name: p, issuerUrl: "https://i.example", audience: a}]\n`,
    expected: [
      'config.yaml:5:22: warning registry-config-scopes: /auth/oauth/scopesSupported: clients are not given mcp-registry:write, which enforceScopes asks them for',
    ],
  },
  {
    reason: 'metrics on the port of the registry',
    text: `${A}${ANONYMOUS}metrics: {port: 8080}\n`,
    expected: [
      'config.yaml:3:17: error registry-config-exclusive: /metrics/port: the registry itself listens on this port',
    ],
  },
  {
    reason: 'an invalid proxy address',
    text: `${A}${ANONYMOUS}limits: {trustedProxies: [10.0.0.0/8, "fd00::/8", "::1", 10.0.0.0/33, 1.2, 300.1.1.1, "1:2"]}\n`,
    expected: [
      'config.yaml:3:58: error registry-config-address: /limits/trustedProxies/3: "10.0.0.0/33" is not an address or CIDR range',
      'config.yaml:3:71: error registry-config-schema: /limits/trustedProxies/4: must be string',
      'config.yaml:3:76: error registry-config-address: /limits/trustedProxies/5: "300.1.1.1" is not an address or CIDR range',
      'config.yaml:3:87: error registry-config-address: /limits/trustedProxies/6: "1:2" is not an address or CIDR range',
    ],
  },
  {
    reason: 'several faults at once',
    text: `registries:
  - {name: health, file: {path: a.json}}
  - {name: b, file: {path: b.json}, fomat: upstream}
  - {git: {repository: nowhere}}
  - {name: b, git: {repository: "https://a.example", tag: v1, branch: main}}
listen: {port: none}
auth:
  oauth:
    resourceUrl: https://user@r.example
    publicPaths: [open]
    providers:
      - {name: p, issuerUrl: "https://i.example#x", audience: a}
      - {name: q, issuerUrl: ftp://i.example}
`,
    expected: [
      'config.yaml:2:12: error registry-config-name-reserved: /registries/0/name: "health" is a path of the service; choose another name',
      'config.yaml:3:37: error registry-config-schema: /registries/1/fomat: unknown field. Did you mean "format"?',
      'config.yaml:4:5: error registry-config-schema: /registries/2: name is missing',
      'config.yaml:4:24: error registry-config-schema: /registries/2/git/repository: is malformed. URL of the repository: file:///, http://, https://, git@, ssh:// or git://.',
      'config.yaml:5:20: error registry-config-exclusive: /registries/3/git: branch and tag exclude each other',
      'config.yaml:6:16: error registry-config-schema: /listen/port: must be integer',
      'config.yaml:9:18: error registry-config-url: /auth/oauth/resourceUrl: must not hold a user name or password; secrets are read from files',
      'config.yaml:10:19: error registry-config-public-path: /auth/oauth/publicPaths/0: "open" must start with /',
      'config.yaml:12:30: error registry-config-url: /auth/oauth/providers/0/issuerUrl: must not have a fragment',
      'config.yaml:13:9: error registry-config-schema: /auth/oauth/providers/1: audience is missing',
      'config.yaml:13:30: error registry-config-schema: /auth/oauth/providers/1/issuerUrl: is malformed. Issuer of the tokens, exactly as their iss claim has it. An http or https URL.',
    ],
  },
])('$reason is reported with a place and a remedy', ({ text, expected }) => {
  check(text, expected);
});

test.each(RESERVED_NAMES)('reserves the name %s for the service', (name) => {
  check(`registries:\n  - name: ${name}\n    managed: {}\n${ANONYMOUS}`, [
    'config.yaml:2:5: warning registry-config-no-effect: ' +
      `/registries/0: nothing is read for "${name}"; it is served empty`,
    `config.yaml:2:11: error registry-config-name-reserved: /registries/0/name: "${name}" is a path of the service; choose another name`,
  ]);
});

test('variables in the environment override the file, and add missing parts', () => {
  const result = readRegistryConfig(`${A}database: {host: file}\n`, 'config.yaml', {
    SKEP_REGISTRY_DATABASE_HOST: 'skep',
    THV_REGISTRY_DATABASE_HOST: 'thv',
    THV_REGISTRY_DATABASE_PORT: '6543',
    THV_REGISTRY_AUTH_MODE: 'oauth',
    THV_REGISTRY_AUTH_OAUTH_RESOURCEURL: 'https://r.example',
    SKEP_REGISTRY_AUTH_OAUTH_PROVIDERS: '[{"name": "p", "issuerUrl": "https://i.example", "audience": "a"}]',
    SKEP_REGISTRY_AUTH_OAUTH_ENFORCESCOPES: 'true',
    SKEP_REGISTRY_METRICS_PORT: '8081',
    SKEP_REGISTRY_PORT: 'tcp://10.0.0.1:8080',
  });
  expect(result).toMatchObject({
    config: {
      database: { host: 'skep', port: 6543 },
      metrics: { host: '0.0.0.0', port: 8081 },
      auth: {
        mode: 'oauth',
        oauth: { resourceUrl: 'https://r.example', enforceScopes: true, providers: [{ name: 'p' }] },
      },
    },
    warnings: [],
  });
});

test('a fault in a variable names the variable', () => {
  const environment = {
    SKEP_REGISTRY_DATABASE_PORT: 'many',
    THV_REGISTRY_AUTH_MODE: 'open',
    SKEP_REGISTRY_LIMITS_TRUSTEDPROXIES: '["1"]',
  };
  const result = readRegistryConfig(`${A}${ANONYMOUS}`, 'config.yaml', environment);
  expect('problems' in result ? result.problems.map(formatProblem) : []).toEqual([
    'error registry-config-schema: SKEP_REGISTRY_DATABASE_PORT: must be integer',
    'error registry-config-schema: THV_REGISTRY_AUTH_MODE: must be one of oauth, anonymous',
    'error registry-config-address: SKEP_REGISTRY_LIMITS_TRUSTEDPROXIES: "1" is not an address or CIDR range',
  ]);
});
