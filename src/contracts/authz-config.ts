// Defines the file with Cedar policies that a proxy reads at `authz_config_path`. Authors may write this file into a
// ConfigMap.

import { type Static, Type } from '#std/json-schema.ts';
import { firstMisfit, schemaCheck } from './schema-check.ts';

/** Folder into which the file is mounted. */
export const AUTHZ_DIRECTORY = '/etc/toolhive/authz';
export const AUTHZ_FILE = 'authz.json';

/** Entity type of callers' groups if `group_entity_type` is not set. */
export const GROUP_TYPE = 'THVGroup';

/** Claims that contain the groups of a caller. In policies, groups are parents of the caller. */
export const GROUP_FIELDS = {
  group_claim_name: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
  role_claim_name: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
  group_entity_type: Type.Optional(Type.String({ maxLength: 63, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })),
};

/** Name of an upstream provider of the authorization server. */
export const PROVIDER_NAME = Type.String({ maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' });

const Groups = Type.Object(GROUP_FIELDS);

export type GroupFields = Static<typeof Groups>;

/** GROUP_FIELDS with their names in the configuration of a virtual server. */
export interface GroupSettings {
  readonly groupClaimName?: string;
  readonly roleClaimName?: string;
  readonly groupEntityType?: string;
}

export function groupFields({ groupClaimName, roleClaimName, groupEntityType }: GroupSettings): GroupFields {
  return { group_claim_name: groupClaimName, role_claim_name: roleClaimName, group_entity_type: groupEntityType };
}

/**
 * JSON Schema of the file. Existing files have version `1.0` or `v1`. The build compiles the schema by its name.
 * @public
 */
export const AUTHZ_CONFIG_SCHEMA = Type.Object({
  version: Type.String({ minLength: 1 }),
  type: Type.Literal('cedarv1'),
  // Unknown fields are refused: if a misspelt field about groups were ignored, policies would decide differently.
  cedar: Type.Object(
    {
      /** Texts with one or more policies each. */
      policies: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
      entities_json: Type.Optional(Type.String()),
      /**
       * Upstream provider whose token contains the claims that policies read. If not set, policies read the claims of
       * the caller's token.
       */
      primary_upstream_provider: Type.Optional(PROVIDER_NAME),
      ...GROUP_FIELDS,
    },
    { additionalProperties: false },
  ),
});

export type AuthzConfigFile = Static<typeof AUTHZ_CONFIG_SCHEMA>;

const authzConfigCheck = schemaCheck<AuthzConfigFile>(AUTHZ_CONFIG_SCHEMA);

/** Returns the parsed file, or its first fault as a sentence. */
export function readAuthzConfig(value: unknown): { readonly file: AuthzConfigFile } | { readonly fault: string } {
  const fits = authzConfigCheck();
  if (fits(value)) return { file: value };
  const misfit = firstMisfit(fits);
  return { fault: `${misfit?.pointer || 'the file'} ${misfit?.message}` };
}
