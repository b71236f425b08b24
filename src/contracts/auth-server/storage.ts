// Defines the Redis for logins in the configuration of an embedded authorization server.

import { addressed } from '#std/address/address.ts';
import { Type } from '#std/json-schema.ts';
import { CLOSED, Duration, Text } from './fields.ts';

const TLS = Type.Object(
  {
    insecure_skip_verify: Type.Boolean({ description: 'Certificates are not checked.' }),
    ca_cert_file: Type.Optional(Text('PEM file to trust. Absent: the roots of the image.')),
  },
  { ...CLOSED, description: 'Absent: the connection is plain.' },
);

export const Redis = Type.Object(
  {
    addr: Type.Optional(addressed(Text('host:port of the server, or of a node of a cluster.'), 'hostPort')),
    cluster_mode: Type.Optional(Type.Boolean({ description: 'True: addr is a node of a Redis Cluster.' })),
    sentinel_config: Type.Optional(
      Type.Object(
        {
          master_name: Text('Name of the master at the Sentinels.'),
          sentinel_addrs: Type.Array(addressed(Text('An item.'), 'hostPort'), {
            description: 'host:port of Sentinels.',
          }),
          db: Type.Integer({ minimum: 0, description: 'Number of the database.' }),
        },
        { ...CLOSED, description: 'The Sentinels that know the server. Either this or addr is set.' },
      ),
    ),
    auth_type: Type.Literal('aclUser'),
    acl_user_config: Type.Object(
      {
        username_file: Type.Optional(Text('File with the name of the user; wins over the variable.')),
        username_env_var: Type.Optional(Text('Variable with the name of the user. Neither: the default user.')),
        password_file: Type.Optional(
          Text('File with the password of the user, read for each connection; wins over the variable.'),
        ),
        password_env_var: Type.Optional(Text('Variable with the password of the user.')),
      },
      CLOSED,
    ),
    key_prefix: Text('Beginning of every key. The braces keep the keys in one slot of a Redis cluster.'),
    dial_timeout: Duration('How long connecting may take.'),
    read_timeout: Duration('How long a response may take.'),
    write_timeout: Duration('How long sending may take.'),
    tls: Type.Optional(TLS),
    sentinel_tls: Type.Optional(TLS),
  },
  CLOSED,
);
