// Finds the telemetry settings of a resource: in the resource, or in the MCPTelemetryConfig that it names.

import assert from 'node:assert/strict';
import { isObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import { specReader } from '../aliases.ts';
import { type Bundle, bundleOf } from '../auth/ca-bundle.ts';
import type { Finding, View } from '../kind.ts';
import { rules } from '../mcptelemetryconfig/rules.ts';
import type { SecretKey } from '../pods/secret-checksum.ts';
import { SharedTelemetry, type TelemetryConfigRef } from './shared-telemetry.ts';
import type { TelemetryConfig } from './telemetry.ts';

export interface TelemetrySource {
  readonly telemetry?: Static<typeof TelemetryConfig>;
  readonly telemetryConfigRef?: Static<typeof TelemetryConfigRef>;
}

type Shared = NonNullable<Static<typeof SharedTelemetry>['openTelemetry']>;

/** Telemetry settings in one form, from the resource or from an MCPTelemetryConfig. */
export interface TelemetrySettings {
  readonly openTelemetry:
    | (Pick<Shared, 'enabled' | 'endpoint' | 'insecure' | 'metrics' | 'tracing' | 'useLegacyAttributes'> & {
        readonly serviceName: string | undefined;
        readonly headers: Readonly<Record<string, string>>;
        readonly secretHeaders: readonly { readonly name: string; readonly secret: SecretKey }[];
        readonly attributes: Readonly<Record<string, string>>;
        readonly bundle: Bundle | undefined;
      })
    | undefined;
  /** True if the proxy serves /metrics on its port for clients. */
  readonly prometheus: boolean;
}

const read = specReader(SharedTelemetry);

/** Returns undefined if the resource has no telemetry settings. Called only if `inspect` has found no errors. */
export function telemetrySettings(source: TelemetrySource, view: View): TelemetrySettings | undefined {
  const { telemetry, telemetryConfigRef: ref } = source;
  if (ref === undefined) return telemetry === undefined ? undefined : ownSettings(telemetry);
  const spec = view.find('MCPTelemetryConfig', ref.name)?.spec;
  assert(isObject(spec), 'children are created only for resources whose references were inspected');
  return sharedSettings(read(spec), ref.serviceName, view);
}

/**
 * For `inspect`: finds mistakes that make the MCPTelemetryConfig unusable. Another manager may have applied it without
 * skep's checks.
 */
export function namedTelemetryFindings({ telemetryConfigRef: ref }: TelemetrySource, view: View): readonly Finding[] {
  const spec = ref === undefined ? undefined : view.find('MCPTelemetryConfig', ref.name)?.spec;
  if (ref === undefined || !isObject(spec)) return [];
  return rules({ spec: read(spec) })
    .filter(({ severity }) => severity === 'error')
    .map(({ code, message }) => {
      const pointer = '/spec/telemetryConfigRef/name';
      return { code, severity: 'error', pointer, message: `MCPTelemetryConfig ${ref.name}: ${message}` };
    });
}

function ownSettings({ openTelemetry, prometheus }: Static<typeof TelemetryConfig>): TelemetrySettings {
  return {
    openTelemetry: openTelemetry && {
      ...openTelemetry,
      serviceName: openTelemetry.serviceName,
      headers: Object.fromEntries((openTelemetry.headers ?? []).map(splitHeader)),
      secretHeaders: [],
      attributes: {},
      bundle: undefined,
    },
    prometheus: prometheus?.enabled === true,
  };
}

function splitHeader(header: string): [string, string] {
  const equals = header.indexOf('=');
  return [header.slice(0, equals), header.slice(equals + 1)];
}

function sharedSettings(
  { openTelemetry, prometheus }: Static<typeof SharedTelemetry>,
  serviceName: string | undefined,
  view: View,
): TelemetrySettings {
  const { 'service.name': _, ...attributes } = openTelemetry?.resourceAttributes ?? {};
  return {
    openTelemetry: openTelemetry && {
      ...openTelemetry,
      serviceName,
      headers: openTelemetry.headers ?? {},
      secretHeaders: (openTelemetry.sensitiveHeaders ?? []).map(({ name, secretKeyRef }) => {
        return { name, secret: secretKeyRef };
      }),
      attributes,
      bundle: bundleOf(openTelemetry.caBundleRef, view),
    },
    prometheus: prometheus?.enabled === true,
  };
}
