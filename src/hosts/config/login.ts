// Defines the part of skep.yaml about people who log in to the console.

import { addressed } from '#std/address/address.ts';
import { isLoopback } from '#std/address/loopback.ts';
import { parseGlob } from '#std/patterns/glob.ts';
import { choice, integer, list, object, optional, type Static, text } from '#std/schema.ts';
import { withRules } from './rules.ts';

const ROLE_RULE = withRules(
  object(
    {
      role: choice('viewer: reads; operator: also acts.', ['viewer', 'operator']),
      claim: text(
        'Claim of the id_token: its name, or a JSON pointer such as /realm_access/roles. The claim email counts only if email_verified is true.',
        { minLength: 1 },
      ),
      values: list(
        text('A value of the claim, or of its list; true and false for a claim that is a boolean.'),
        'The rule applies if the claim has one of these values.',
        { minItems: 1 },
      ),
      namespaces: optional(
        list(
          text('A name, or a glob such as team-*.', { minLength: 1 }),
          'Namespaces in which an operator may act; default: everywhere. Actions that concern the whole instance need a rule without namespaces.',
          { minItems: 1 },
        ),
      ),
    },
    'A rule that gives a role.',
  ),
  [
    {
      holds: ({ role, namespaces }) => role === 'operator' || namespaces === undefined,
      message: 'only operators are limited to namespaces: viewers see the whole fleet',
      at: '/namespaces',
    },
    {
      message: 'each of the namespaces is a name or a glob',
      faults: ({ namespaces = [] }) =>
        namespaces.flatMap((each, index) =>
          parseGlob(each) === undefined ? [{ message: `${each} is not a glob`, at: `/namespaces/${index}` }] : [],
        ),
    },
  ],
);

const SETTINGS = object(
  {
    url: addressed(
      text('URL at which people open the console. The provider sends them back to /login/callback below it.', {
        pattern: '^https?://[^?#]*[^/?#]$',
      }),
      'url',
    ),
    issuer: addressed(text('Issuer of the provider (OpenID Connect), as its discovery document names it.'), 'url'),
    clientId: text('Id of this client at the provider.', { minLength: 1 }),
    clientSecretFile: optional(
      text('File with the secret of the client; read again at each login. Without it, the client is a public one.', {
        minLength: 1,
      }),
    ),
    scopes: list(
      text('A scope.', { minLength: 1 }),
      'Scopes of the login: those that put the claims of the rules into the id_token.',
      {
        default: ['openid', 'profile', 'email'],
      },
    ),
    roles: list(ROLE_RULE, 'Rules that give roles. A person to whom none applies is not let in.', { minItems: 1 }),
    sessionHours: integer('Hours after which a person has to log in again.', { default: 8, minimum: 1, maximum: 24 }),
  },
  'Login of people at the console with a provider of OpenID Connect.',
);

export const LOGIN = withRules(SETTINGS, [
  {
    holds: ({ url }) => isSafe(url),
    message: 'url must be https, because of the cookie; http is for this machine only (localhost, 127.0.0.1, [::1])',
    at: '/url',
  },
  {
    holds: ({ issuer }) => isSafe(issuer),
    message: 'issuer must be https; http is for this machine only (localhost, 127.0.0.1, [::1])',
    at: '/issuer',
  },
  { holds: ({ scopes }) => scopes.includes('openid'), message: 'scopes must include openid', at: '/scopes' },
]);

export type LoginConfig = Static<typeof LOGIN>;

/** Also returns true for a text that is not a URL, because another check reports such a text. */
function isSafe(text: string): boolean {
  const url = URL.parse(text);
  return url === null || url.protocol === 'https:' || isLoopback(url.hostname);
}
