// Defines the fields of MCPAuthzConfig, and reads its policies. An API server does not check fields of `config`, so
// this file checks them.

import { GROUP_FIELDS, type GroupFields, PROVIDER_NAME } from '#contracts/authz-config.ts';
import { firstMisfit, schemaCheck } from '#contracts/schema-check.ts';
import { GROUP_SETTINGS } from '#contracts/virtual/auth.ts';
import { entitiesFault } from '#std/cedar.ts';
import { didYouMean } from '#std/closest.ts';
import { isObject, type JsonObject, pointerToken } from '#std/json.ts';
import { type Static, Type } from '#std/json-schema.ts';
import { list, object, optional, text } from '#std/schema.ts';
import { primaryProvider } from './authz.ts';
import { cedarFaults, type GroupType, groupTypeOf, placedMessage } from './cedar-faults.ts';

const Config = object(
  {
    policies: optional(
      list(text('Cedar policies, one or more.'), 'Cedar policies. A request that no policy permits is denied.'),
    ),
    entities_json: optional(text('Cedar entities, as a JSON list.')),
    primary_upstream_provider: optional(
      primaryProvider('Default: primaryUpstreamProvider of the authorization server.'),
    ),
    group_claim_name: GROUP_SETTINGS.groupClaimName,
    role_claim_name: GROUP_SETTINGS.roleClaimName,
    group_entity_type: GROUP_SETTINGS.groupEntityType,
  },
  'The policies, in the form of the type.',
);

export const SharedAuthz = object(
  {
    type: text('Language of policies: cedarv1. httpv1, which asks a server for each decision, is refused.', {
      minLength: 1,
    }),
    config: { ...Config, 'x-kubernetes-preserve-unknown-fields': true } as typeof Config,
  },
  'Permissions of callers of the resources that name these settings.',
);

export interface Policies {
  readonly policies: readonly string[];
  readonly entitiesJson: string;
  readonly groups: GroupFields;
  /** Name of the upstream provider whose token the policies read. */
  readonly upstreamProvider?: string;
}

/** Reason why the settings cannot be used. `pointer`: pointer below the spec. */
interface AuthzFault {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly at?: 'key';
}

/**
 * Reads the policies, and checks every field: the API server may have stored the object before it knew the current
 * schema.
 */
export function sharedPolicies({ type, config }: JsonObject): Policies | { readonly faults: readonly AuthzFault[] } {
  if (type !== 'cedarv1') {
    const message = `type ${String(type)} is not supported: policies are written in Cedar (cedarv1)`;
    return { faults: [{ pointer: '/type', code: 'field-not-supported', message }] };
  }
  const { policies, entities_json: entities = '[]', ...rest } = isObject(config) ? config : {};
  const { group_claim_name, role_claim_name, group_entity_type, primary_upstream_provider, ...others } = rest;
  const groups = { group_claim_name, role_claim_name, group_entity_type };
  const named = { primary_upstream_provider, ...groups };
  const texts = Array.isArray(policies) ? policies.filter((policy) => typeof policy === 'string' && policy !== '') : [];
  const faults = [
    ...Object.keys(others).map(unknownFault),
    ...policyFaultsOf(texts, Array.isArray(policies) ? policies.length : 0, groupTypeOf(groups, entities)),
    ...entitiesFaults(entities),
  ];
  const fits = namesCheck();
  if (faults.length > 0 || !fits(named)) return { faults: [...faults, ...misfits(named)] };
  const policyTexts = texts.map(String);
  const { primary_upstream_provider: upstreamProvider, ...claims } = named;
  return { policies: policyTexts, entitiesJson: String(entities), groups: claims, upstreamProvider };
}

const Names = Type.Object({ primary_upstream_provider: Type.Optional(PROVIDER_NAME), ...GROUP_FIELDS });

const namesCheck = schemaCheck<Static<typeof Names>>(Names);

function misfits(names: JsonObject): readonly AuthzFault[] {
  const fits = namesCheck();
  if (fits(names)) return [];
  const { pointer, message } = firstMisfit(fits) ?? { pointer: '', message: 'is wrong' };
  return [
    {
      pointer: `/config${pointer}`,
      code: 'authz-config-invalid',
      message: `config${pointer.replace('/', '.')} ${message}`,
    },
  ];
}

function unknownFault(name: string): AuthzFault {
  const pointer = `/config/${pointerToken(name)}`;
  const known = Object.keys(Config.properties);
  const message = `config has no field "${name}" for type cedarv1.${didYouMean(name, known)}`;
  return { pointer, code: 'authz-config-invalid', message, at: 'key' };
}

function policyFaultsOf(texts: readonly unknown[], written: number, groups: GroupType): readonly AuthzFault[] {
  if (texts.length === 0 || texts.length !== written) {
    const message = 'config.policies must be a list of at least one text, each with one or more Cedar policies';
    return [{ pointer: '/config', code: 'authz-config-invalid', message }];
  }
  return texts.flatMap((policy, index) =>
    cedarFaults(String(policy), groups).map((fault): AuthzFault => {
      return { pointer: `/config/policies/${index}`, code: fault.code, message: placedMessage(fault) };
    }),
  );
}

function entitiesFaults(entities: unknown): readonly AuthzFault[] {
  const fault = typeof entities === 'string' ? entitiesFault(entities) : 'it is not a text';
  if (fault === undefined) return [];
  const message = `entities_json: ${fault}`;
  return [{ pointer: '/config/entities_json', code: 'authz-entities-invalid', message }];
}
