// Defines failure codes of Redis and Valkey.

export const REDIS_CODES = {
  'redis-unreachable':
    'Redis cannot be reached, or refuses the password: the message names its address. Sessions of other replicas are unknown meanwhile; the connection is tried again.',
} as const;
