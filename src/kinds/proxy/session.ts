// Fields that say where sessions are kept. Knows nothing about sessions.

import { choice, integer, object, optional, text } from '../../std/schema.ts';
import { secretKeyRef } from '../selectors.ts';

export const SessionStorage = object(
  {
    provider: choice('memory: in each process, lost with it. redis: shared between replicas.', ['memory', 'redis']),
    address: optional(text('host:port of Redis.', { minLength: 1 })),
    db: integer('Number of the Redis database.', { default: 0, minimum: 0 }),
    keyPrefix: optional(text('What every key starts with.')),
    passwordRef: optional(secretKeyRef('Password of Redis.')),
  },
  'Where sessions are kept. Default: in memory.',
  {
    validations: [{ rule: "self.provider != 'redis' || has(self.address)", message: 'address is required' }],
  },
);
