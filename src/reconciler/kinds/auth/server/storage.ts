// Defines the fields for the storage of logins of an embedded authorization server.

import { addressed } from '#std/address/address.ts';
import { bool, choice, duration, integer, list, object, optional, port, text } from '#std/schema.ts';
import { nameField, secretKeyRef } from '../../selectors.ts';

const SentinelService = object(
  {
    name: nameField('Name of the Service.'),
    namespace: optional(nameField("Namespace of the Service. Default: the resource's own.")),
    port: port('Port of the Service.', { default: 26_379 }),
  },
  'A Service of the Sentinels.',
);

function hostPort(description: string) {
  return addressed(
    text(description, {
      minLength: 1,
      maxLength: 260,
      pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^\\s:/\\[\\]]+):[0-9]{1,5}$',
    }),
    'hostPort',
  );
}

const Sentinel = object(
  {
    masterName: text('Name of the master in the Sentinels.', { minLength: 1 }),
    sentinelAddrs: optional(
      list(hostPort('host:port of a Sentinel.'), 'Addresses of the Sentinels, if sentinelService names no Service.', {
        minItems: 1,
      }),
    ),
    sentinelService: optional(SentinelService),
    db: integer('Number of the database.', { default: 0, minimum: 0 }),
  },
  'The Sentinels that know which Redis is the master.',
  {
    validations: [
      {
        rule: 'has(self.sentinelAddrs) != has(self.sentinelService)',
        message: 'exactly one of sentinelAddrs and sentinelService must be set',
      },
    ],
  },
);

const AclUser = object(
  {
    usernameSecretRef: optional(secretKeyRef('Name of the user. Without it, the password is for the default user.')),
    passwordSecretRef: secretKeyRef('Password of the user.'),
  },
  'The Redis user that the server logs in as.',
);

function tls(description: string) {
  return object(
    {
      insecureSkipVerify: bool('True: certificates are not checked. Never in production.', false),
      caCertSecretRef: optional(
        secretKeyRef('Certificate authority to trust, in PEM. Default: the authorities of the container image.'),
      ),
    },
    description,
  );
}

function timeout(description: string, field: string, fallback: string) {
  return duration(description, {
    default: fallback,
    validations: [{ rule: "duration(self) > duration('0s')", message: `${field} must be longer than 0s` }],
  });
}

const Redis = object(
  {
    addr: optional(hostPort('host:port of Redis, or of a node of a Redis Cluster.')),
    clusterMode: optional(bool('True: addr is a node of a Redis Cluster, which reports the other nodes.')),
    sentinelConfig: optional(Sentinel),
    aclUserConfig: AclUser,
    dialTimeout: timeout('Limit of the time for connecting.', 'dialTimeout', '5s'),
    readTimeout: timeout('Limit of the time for a response.', 'readTimeout', '3s'),
    writeTimeout: timeout('Limit of the time for sending.', 'writeTimeout', '3s'),
    tls: optional(tls('TLS to the master. Without it, the connection is plain.')),
    sentinelTls: optional(tls('TLS to the Sentinels. Without it, those connections are plain, even if tls is set.')),
  },
  'Redis: one server, a cluster, or behind Sentinels.',
  {
    validations: [
      {
        rule: '(has(self.addr) && self.addr.size() > 0) != has(self.sentinelConfig)',
        message: 'exactly one of addr and sentinelConfig must be set',
      },
      {
        rule: '!(has(self.clusterMode) && self.clusterMode) || (has(self.addr) && self.addr.size() > 0)',
        message: 'clusterMode needs addr: Sentinels do not support clusters',
      },
    ],
  },
);

/** Named AuthServerStorageConfig in ToolHive's documents. */
export const AuthServerStorage = object(
  {
    type: choice('memory: in the process, lost with it. redis: shared, and kept.', ['memory', 'redis'], {
      default: 'memory',
    }),
    redis: optional(Redis),
  },
  'Store of logins and tokens. Default: in memory.',
  {
    default: { type: 'memory' },
    validations: [
      {
        rule: "(self.type == 'redis') == has(self.redis)",
        message: "redis must be set when type is 'redis', and must not be set otherwise",
      },
    ],
  },
);
