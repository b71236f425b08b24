// The file with Cedar policies that a proxy reads at `authz_config_path`, and that authors may write into a ConfigMap.

import { type Static, Type } from '#std/json-schema.ts';
import { firstMisfit, schemaCheck } from './schema-check.ts';

/** Where the file is mounted. */
export const AUTHZ_DIRECTORY = '/etc/toolhive/authz';
export const AUTHZ_FILE = 'authz.json';

/**
 * JSON Schema of the file. Existing ones say `1.0` or `v1`. The build compiles it by its name.
 * @public
 */
export const AUTHZ_CONFIG_SCHEMA = Type.Object({
  version: Type.String({ minLength: 1 }),
  type: Type.Literal('cedarv1'),
  cedar: Type.Object({
    /** Each text holds one or more policies. */
    policies: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    entities_json: Type.Optional(Type.String()),
  }),
});

export type AuthzConfigFile = Static<typeof AUTHZ_CONFIG_SCHEMA>;

const authzConfigCheck = schemaCheck<AuthzConfigFile>(AUTHZ_CONFIG_SCHEMA);

/** A parsed file, or in one sentence what is wrong with it. */
export function readAuthzConfig(value: unknown): { readonly file: AuthzConfigFile } | { readonly fault: string } {
  const fits = authzConfigCheck();
  if (fits(value)) return { file: value };
  const misfit = firstMisfit(fits);
  return { fault: `${misfit?.pointer || 'the file'} ${misfit?.message}` };
}
