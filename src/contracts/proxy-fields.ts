// Defines fields that specs of servers and proxies share with the configurations rendered from them.

import { addressed } from '#std/address/address.ts';
import { decimal } from '#std/decimal.ts';
import { Type } from '#std/json-schema.ts';
import { integer, text } from '#std/schema.ts';

export const IMAGE = text('Container image of the MCP server.', { minLength: 1, pattern: '^\\S+$' });
export const REMOTE_URL = text('URL of the remote MCP server.', { pattern: '^https?://', maxLength: 2048 });

export const SAMPLING_RATE = decimal('Share of requests that are traced, 0.0 to 1.0.', {
  field: 'samplingRate',
  most: '1.0',
  default: '0.05',
});

/** Fields of the Redis in which replicas share sessions. */
export const REDIS = {
  address: addressed(text('host:port of Redis.', { minLength: 1 }), 'hostPort'),
  db: integer('Number of the Redis database.', { default: 0, minimum: 0 }),
  keyPrefix: text('Beginning of every key.'),
};

/** Decision about calls while audit events cannot be written. */
export const AuditFailure = Type.Enum(['continue', 'refuse'], {
  description:
    'Whether calls go on while audit events cannot be written (continue, the default) or get 503 (refuse). Set by skep.dev/audit-failure.',
});
