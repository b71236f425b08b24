// Defines limits for the rate of tool calls, which apply to all replicas of a server together.

import type { Static } from '#std/json-schema.ts';
import { duration, integer, list, object, optional, text } from '#std/schema.ts';

function tokenBucket(description: string) {
  return object(
    {
      maxTokens: integer('How many calls there may be at once: each takes a token, and the bucket begins full.', {
        minimum: 1,
      }),
      refillPeriod: duration('How long an empty bucket takes to be full again, such as 1m0s.', {
        validations: [{ rule: "duration(self) > duration('0s')", message: 'refillPeriod must be longer than 0s' }],
      }),
    },
    description,
  );
}

const ToolRateLimit = object(
  {
    name: text('Name of the tool, as clients call it.', { minLength: 1, maxLength: 256 }),
    shared: optional(tokenBucket('Calls of the tool by all users together.')),
    perUser: optional(tokenBucket('Calls of the tool by each user.')),
  },
  'Further limits of one tool.',
  {
    validations: [
      {
        rule: 'has(self.shared) || has(self.perUser)',
        message: 'at least one of shared or perUser must be configured',
      },
    ],
  },
);

export const RateLimiting = object(
  {
    shared: optional(tokenBucket('Calls of tools by all users together.')),
    perUser: optional(tokenBucket('Calls of tools by each user: issuer and subject of the token.')),
    tools: optional(
      list(ToolRateLimit, 'Further limits of single tools: a call must pass all limits that apply to it.', {
        keys: ['name'],
        maxItems: 1000,
      }),
    ),
  },
  'How often tools may be called, at all replicas together. The calls are counted in the Redis of sessionStorage.',
  {
    validations: [
      {
        rule: 'has(self.shared) || has(self.perUser) || (has(self.tools) && size(self.tools) > 0)',
        message: 'at least one of shared, perUser, or tools must be configured',
      },
    ],
  },
);

export type RateLimitFields = Static<typeof RateLimiting>;
