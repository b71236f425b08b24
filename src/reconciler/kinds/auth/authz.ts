// Defines the fields that restrict accepted callers.

import { GROUP_SETTINGS } from '#contracts/virtual/auth.ts';
import type { RuleMark } from '#std/schema/marks.ts';
import { choice, list, object, optional, text } from '#std/schema.ts';
import { namedRef, nameField } from '../selectors.ts';

const ConfigMapAuthz = object(
  {
    name: nameField('Name of the ConfigMap.'),
    key: text('Key with the authorization settings, as JSON or YAML.', {
      default: 'authz.json',
      minLength: 1,
    }),
  },
  'Policies in a ConfigMap.',
);

/** Defines a field that contains the name of an upstream provider. */
export function primaryProvider(fallback: string) {
  return text(
    `Upstream provider of the authorization server whose access token, a JWT, contains the claims that policies read. ${fallback}`,
    { minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' },
  );
}

const InlineAuthz = object(
  {
    policies: list(
      text('Cedar policies, one or more.', { minLength: 1 }),
      'Cedar policies. A request that no policy permits is denied.',
      {
        minItems: 1,
      },
    ),
    entitiesJson: text('Cedar entities, as a JSON list.', { default: '[]' }),
    primaryUpstreamProvider: optional(primaryProvider('Default: primaryUpstreamProvider of the authorization server.')),
  },
  'Policies in this resource.',
);

/** Named AuthzConfigRef in ToolHive's documents. */
export const AuthzConfig = object(
  {
    type: choice('Place of the policies.', ['configMap', 'inline'], { default: 'configMap' }),
    configMap: optional(ConfigMapAuthz),
    inline: optional(InlineAuthz),
    ...GROUP_SETTINGS,
  },
  'Permissions of callers. Without it, every accepted caller may do everything.',
  {
    validations: [
      {
        rule: "(self.type == 'configMap') == has(self.configMap)",
        message: "configMap must be set when type is 'configMap', and must not be set otherwise",
      },
      {
        rule: "(self.type == 'inline') == has(self.inline)",
        message: "inline must be set when type is 'inline', and must not be set otherwise",
      },
    ],
  },
);

export const AuthzConfigRef = namedRef('Permissions of callers, from an MCPAuthzConfig.', 'MCPAuthzConfig');

/** Only one of the two fields may be set. */
export const ONE_AUTHZ_CONFIG: RuleMark = {
  rule: '!has(self.authzConfig) || !has(self.authzConfigRef)',
  message:
    'authzConfig and authzConfigRef are mutually exclusive; use authzConfigRef to reference a shared MCPAuthzConfig',
};
