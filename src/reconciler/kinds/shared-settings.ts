// Defines the kinds with settings for other resources, and computes references, conditions and digests of resources
// that name such settings.

import { isObject } from '#std/json.ts';
import { optional, text } from '#std/schema.ts';
import type { ConditionResult } from './conditions.ts';
import type { Finding, Reference, View } from './kind.ts';

interface SettingsKind {
  readonly kind: string;
  /** Type of the condition of a resource that uses the settings. ToolHive's clients know the type and its reasons. */
  readonly condition: string;
  readonly valid: string;
  readonly notFound: string;
  readonly unreadable: string;
  readonly invalid: string;
}

function settingsKind(
  kind: string,
  word: string,
  invalid = `${word}Invalid`,
  unreadable = `${word}Error`,
): SettingsKind {
  return {
    kind,
    condition: `${word}Validated`,
    valid: `${word}Valid`,
    notFound: `${word}NotFound`,
    unreadable,
    invalid,
  };
}

const SETTINGS_KINDS = {
  toolConfigRef: settingsKind('MCPToolConfig', 'ToolConfig', 'ToolConfigInvalid', 'ToolConfigFetchError'),
  externalAuthConfigRef: settingsKind(
    'MCPExternalAuthConfig',
    'ExternalAuthConfig',
    'ExternalAuthConfigInvalid',
    'ExternalAuthConfigFetchError',
  ),
  authServerRef: settingsKind('MCPExternalAuthConfig', 'AuthServerRef'),
  oidcConfigRef: settingsKind('MCPOIDCConfig', 'OIDCConfigRef', 'OIDCConfigRefNotValid'),
  telemetryConfigRef: settingsKind('MCPTelemetryConfig', 'TelemetryConfigRef'),
  authzConfigRef: settingsKind('MCPAuthzConfig', 'AuthzConfigRef', 'AuthzConfigRefNotValid'),
  webhookConfigRef: settingsKind('MCPWebhookConfig', 'WebhookConfig'),
} as const satisfies Readonly<Record<string, SettingsKind>>;

/** Fields with which a resource names settings, at any depth of its spec. */
export type SettingsField = keyof typeof SETTINGS_KINDS;

/** The part of a spec with references to settings. */
export type SettingsRefs = { readonly [Field in SettingsField]?: { readonly name: string } };

const FIELDS = Object.keys(SETTINGS_KINDS) as readonly SettingsField[];

/** Returns the kinds of settings that these fields name. Settings are applied before the resources that use them. */
export function settingsKinds(fields: readonly SettingsField[] = FIELDS): readonly string[] {
  return [...new Set(fields.map((field) => SETTINGS_KINDS[field].kind))];
}

/** Returns all fields that name settings of the same kind as `field`. */
export function fieldsOfSameKind(field: SettingsField): readonly SettingsField[] {
  return FIELDS.filter((each) => SETTINGS_KINDS[each].kind === SETTINGS_KINDS[field].kind);
}

/** `pointer`: pointer of the object with the references. */
export function settingsReferences(refs: SettingsRefs, pointer = '/spec'): readonly Reference[] {
  return FIELDS.flatMap((field) => {
    const ref = refs[field];
    const { kind } = SETTINGS_KINDS[field];
    return ref === undefined ? [] : [{ pointer: `${pointer}/${field}/name`, kind, name: ref.name }];
  });
}

/**
 * Returns conditions that say whether the named settings exist and are valid. `refusals` about settings have the
 * pointer of the field that names them.
 */
export function settingsConditions(
  refs: SettingsRefs,
  refusals: readonly Finding[],
  pointer = '/spec',
): readonly ConditionResult[] {
  return FIELDS.flatMap((field): readonly ConditionResult[] => {
    const ref = refs[field];
    if (ref === undefined) return [];
    const { kind, condition: type, valid } = SETTINGS_KINDS[field];
    const refusal = refusals.find((finding) => finding.pointer.startsWith(`${pointer}/${field}`));
    if (refusal === undefined) {
      return [{ type, status: 'True', reason: valid, message: `${kind} ${ref.name} can be used` }];
    }
    return [{ type, status: 'False', reason: settingsReason(field, refusal.code), message: refusal.message }];
  });
}

/** Returns the reason of the condition for settings that cannot be used. */
export function settingsReason(field: SettingsField, code: string): string {
  const { unreadable, notFound, invalid } = SETTINGS_KINDS[field];
  if (code === 'reference-unknown') return unreadable;
  return isReference(code) ? notFound : (REASONS.get(code) ?? invalid);
}

/** Reasons by the code of a finding, if ToolHive's clients know a more specific reason. */
const REASONS: ReadonlyMap<string, string> = new Map([['auth-server-upstreams', 'MultiUpstreamNotSupported']]);

export function isReference(code: string): boolean {
  return code.startsWith('reference-');
}

/** Status fields with digests of the settings in use. */
export const SETTINGS_HASHES = {
  toolConfigHash: optional(text('configHash of the MCPToolConfig in use.')),
  externalAuthConfigHash: optional(text('configHash of the MCPExternalAuthConfig in use.')),
  authServerConfigHash: optional(text('configHash of the MCPExternalAuthConfig that authServerRef names.')),
  oidcConfigHash: optional(text('configHash of the MCPOIDCConfig in use.')),
  telemetryConfigHash: optional(text('configHash of the MCPTelemetryConfig in use.')),
  authzConfigHash: optional(text('configHash of the MCPAuthzConfig in use.')),
};

/** Returns `configHash` of each named object. Clients see from these digests that settings changed. */
export function settingsHashes(refs: SettingsRefs, view: View) {
  return {
    toolConfigHash: hashOf('toolConfigRef', refs, view),
    externalAuthConfigHash: hashOf('externalAuthConfigRef', refs, view),
    authServerConfigHash: hashOf('authServerRef', refs, view),
    oidcConfigHash: hashOf('oidcConfigRef', refs, view),
    telemetryConfigHash: hashOf('telemetryConfigRef', refs, view),
    authzConfigHash: hashOf('authzConfigRef', refs, view),
    webhookConfigHash: hashOf('webhookConfigRef', refs, view),
  };
}

function hashOf(field: SettingsField, refs: SettingsRefs, view: View): string | undefined {
  const ref = refs[field];
  const status = ref === undefined ? undefined : view.find(SETTINGS_KINDS[field].kind, ref.name)?.status;
  return isObject(status) && typeof status.configHash === 'string' ? status.configHash : undefined;
}
