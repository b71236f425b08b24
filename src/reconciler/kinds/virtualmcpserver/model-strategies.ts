// Converts an authentication strategy in the virtual MCP configuration model to the strategy that the server reads.

import type { ModelOutgoingAuth } from '#contracts/virtual/auth.ts';
import type { Strategy } from '#contracts/vmcp-config-auth.ts';
import type { Static } from '#std/schema.ts';
import { TOKEN_TYPES } from '../auth/external-auth-parts.ts';
import { cloudStsOf } from './strategies.ts';

type ModelStrategy = NonNullable<Static<typeof ModelOutgoingAuth>['default']>;

/** Returns the strategy without environment variables, because authors set its variables in podTemplateSpec. */
export function modelStrategy(written: ModelStrategy): { readonly strategy: Strategy; readonly env: readonly [] } {
  const { tokenExchange, awsSts, type, ...blocks } = written;
  if (type === 'aws_sts') return { strategy: { type: 'cloud_sts', cloudSts: awsSts && cloudStsOf(awsSts) }, env: [] };
  const strategy = { type, ...blocks };
  if (tokenExchange === undefined) return { strategy, env: [] };
  const { clientId = '', audience = '', ...exchange } = tokenExchange;
  const rendered = {
    ...exchange,
    clientId: clientId || undefined,
    audience: audience || undefined,
    subjectTokenType: subjectType(tokenExchange.subjectTokenType),
  };
  return { strategy: { ...strategy, tokenExchange: rendered }, env: [] };
}

/** Returns the full name of a token type. The field's pattern accepts only short names in this table. */
function subjectType(type: string) {
  return Object.entries(TOKEN_TYPES).find(([word]) => word === type)?.[1] ?? TOKEN_TYPES.access_token;
}
