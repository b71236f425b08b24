// Defines the file with Cedar policies that a proxy reads at `authz_config_path`, and that authors may write into a
// ConfigMap.

import { type Static, Type } from '#std/json-schema.ts';
import { firstMisfit, schemaCheck } from './schema-check.ts';

/** The folder in which the file is mounted. */
export const AUTHZ_DIRECTORY = '/etc/toolhive/authz';
export const AUTHZ_FILE = 'authz.json';

/** Type of the groups of callers if `group_entity_type` is absent. */
export const GROUP_TYPE = 'THVGroup';

/** The claims that name the groups of a caller. Groups are parents of the caller in the policies. */
export const GROUP_FIELDS = {
  group_claim_name: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
  role_claim_name: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
  group_entity_type: Type.Optional(Type.String({ maxLength: 63, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })),
};

/** Name of an upstream provider of an authorization server. */
export const PROVIDER_NAME = Type.String({ maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' });

const Groups = Type.Object(GROUP_FIELDS);

export type GroupFields = Static<typeof Groups>;

/** The same fields with their names in the configuration of a virtual server. */
export interface GroupSettings {
  readonly groupClaimName?: string;
  readonly roleClaimName?: string;
  readonly groupEntityType?: string;
}

export function groupFields({ groupClaimName, roleClaimName, groupEntityType }: GroupSettings): GroupFields {
  return { group_claim_name: groupClaimName, role_claim_name: roleClaimName, group_entity_type: groupEntityType };
}

/**
 * JSON Schema of the file. Existing files have `1.0` or `v1`. The build compiles it by its name.
 * @public
 */
export const AUTHZ_CONFIG_SCHEMA = Type.Object({
  version: Type.String({ minLength: 1 }),
  type: Type.Literal('cedarv1'),
  // The object is closed, because a policy decides differently if a field that names the groups of callers is misspelt
  // or not read.
  cedar: Type.Object(
    {
      /** Each text has one or more policies. */
      policies: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
      entities_json: Type.Optional(Type.String()),
      /**
       * The upstream provider of the authorization server whose token has the claims of a caller. If absent, the token
       * that the caller sent has the claims.
       */
      primary_upstream_provider: Type.Optional(PROVIDER_NAME),
      ...GROUP_FIELDS,
    },
    { additionalProperties: false },
  ),
});

export type AuthzConfigFile = Static<typeof AUTHZ_CONFIG_SCHEMA>;

const authzConfigCheck = schemaCheck<AuthzConfigFile>(AUTHZ_CONFIG_SCHEMA);

/** Returns a parsed file, or its fault in one sentence. */
export function readAuthzConfig(value: unknown): { readonly file: AuthzConfigFile } | { readonly fault: string } {
  const fits = authzConfigCheck();
  if (fits(value)) return { file: value };
  const misfit = firstMisfit(fits);
  return { fault: `${misfit?.pointer || 'the file'} ${misfit?.message}` };
}
