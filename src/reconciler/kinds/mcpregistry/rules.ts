// Finds mistakes in an MCPRegistry that neither its schema nor CEL can express: in the resource (rules), and in the
// objects that it references (inspect).

import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { API_FORMAT } from '#contracts/registry/config-source-rules.ts';
import { FORMAT_OF_APIS } from '#contracts/registry/source.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { isObject } from '#std/json.ts';
import { parseGlob } from '#std/patterns/glob.ts';
import type { Finding, View } from '../kind.ts';
import { podTemplateFindings } from '../pods/pod-template.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { registryAnnotationFindings, registryAnnotations } from './annotations.ts';
import { configText, podWithoutVolumes } from './children.ts';
import type { EffectiveRegistry } from './facts.ts';
import { PASSWORD_FIELDS, passwordFindings } from './pgpass.ts';
import { volumeFindings } from './volumes.ts';

export function rules(self: EffectiveRegistry, written: unknown): readonly Finding[] {
  return [
    ...volumeFindings(self.spec, podWithoutVolumes(self)),
    ...podTemplateFindings(self.spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...credentialFindings(self),
    ...commitFindings(self),
    ...formatFindings(written),
    ...openFindings(self),
    ...overruledFindings(self),
    ...optionalFindings(self),
    ...filterFindings(self),
    ...serviceFindings(self),
    ...authorityFindings(self),
    ...registryAnnotationFindings(self),
  ];
}

/**
 * Warns of credentials for a repository that is not at an http or https URL: HTTP Basic authentication cannot use them.
 */
function credentialFindings({ spec }: EffectiveRegistry): readonly Finding[] {
  return spec.registries.flatMap(({ git }, index): readonly Finding[] => {
    if (git?.auth === undefined || /^https?:/.test(git.repository)) return [];
    const pointer = `/spec/registries/${index}/git/auth`;
    const message = `auth has no effect for ${git.repository}: only http and https repositories use it`;
    return [{ code: 'git-auth-unused', severity: 'warning', pointer, message }];
  });
}

/** Finds shortened commit ids: Git servers serve a commit only by its full id. */
function commitFindings({ spec }: EffectiveRegistry): readonly Finding[] {
  return spec.registries.flatMap(({ git }, index): readonly Finding[] => {
    if (git?.commit === undefined || /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(git.commit)) return [];
    const pointer = `/spec/registries/${index}/git/commit`;
    const message = `"${git.commit}" is not a full commit id: Git servers serve a commit only by its 40 (or 64) hexadecimal digits`;
    return [{ code: 'git-commit-short', severity: 'error', pointer, message }];
  });
}

/** Checks the author's spec without defaults, because a default is not a choice of the author. */
function formatFindings(written: unknown): readonly Finding[] {
  const registries = isObject(written) ? written.registries : [];
  return (Array.isArray(registries) ? registries : []).flatMap((registry, index) => {
    const { api, format } = isObject(registry) ? registry : {};
    const isIgnored = api !== undefined && format !== undefined && format !== FORMAT_OF_APIS;
    return isIgnored ? [fieldWithoutEffect(`/spec/registries/${index}/format`, API_FORMAT)] : [];
  });
}

/** Warns of passwords that the author marks as optional. They are required, because a child is rendered from them. */
function optionalFindings({ written: { databaseConfig, pgpassSecretRef } }: EffectiveRegistry): readonly Finding[] {
  if (pgpassSecretRef?.optional === true)
    return [fieldWithoutEffect('/spec/pgpassSecretRef/optional', 'the service cannot do without the passwords')];
  return Object.values(PASSWORD_FIELDS).flatMap((field) =>
    databaseConfig?.[field].optional === true
      ? [fieldWithoutEffect(`/spec/databaseConfig/${field}/optional`, 'the service needs the password')]
      : [],
  );
}

/** Warns of providers and public paths if the mode is anonymous, which is the default: everyone may read. */
function openFindings({ spec: { authConfig } }: EffectiveRegistry): readonly Finding[] {
  if (authConfig === undefined || authConfig.mode === 'oauth') return [];
  const paths =
    authConfig.publicPaths === undefined
      ? []
      : [fieldWithoutEffect('/spec/authConfig/publicPaths', 'everyone may read everything')];
  if (authConfig.oauth === undefined) return paths;
  const message = "oauth has no effect, and everyone may read: mode is 'anonymous'; set it to 'oauth'";
  return [...paths, { code: 'field-without-effect', severity: 'warning', pointer: '/spec/authConfig/oauth', message }];
}

/** Warns if a provider names both a file in the container and an object to mount: only the file is read. */
function overruledFindings({ spec: { authConfig } }: EffectiveRegistry): readonly Finding[] {
  return (authConfig?.oauth?.providers ?? []).flatMap((provider, index) => {
    const place = `/spec/authConfig/oauth/providers/${index}`;
    const { caCertPath, caCertRef, authTokenFile, authTokenRef } = provider;
    return [
      ...(caCertPath && caCertRef ? [fieldWithoutEffect(`${place}/caCertRef`, 'caCertPath counts instead')] : []),
      ...(authTokenFile && authTokenRef
        ? [fieldWithoutEffect(`${place}/authTokenRef`, 'authTokenFile counts instead')]
        : []),
    ];
  });
}

/**
 * Finds sslMode verify-ca without certificates: the client verifies the server only with certificates that are named.
 */
function authorityFindings(self: EffectiveRegistry): readonly Finding[] {
  if (self.spec.databaseConfig?.settings.sslMode !== 'verify-ca') return [];
  if (registryAnnotations(self).databaseCA !== undefined) return [];
  const message =
    'sslMode verify-ca needs certificates: name a ConfigMap with them in the annotation skep.dev/database-ca';
  return [{ code: 'database-ca-missing', severity: 'error', pointer: '/spec/databaseConfig/sslMode', message }];
}

/**
 * Finds malformed globs in filters. A malformed glob matches no entry, so the registry would be served without entries.
 */
function filterFindings({ spec }: EffectiveRegistry): readonly Finding[] {
  return spec.registries.flatMap(({ filter }, index) =>
    (['include', 'exclude'] as const).flatMap((list) =>
      (filter?.names?.[list] ?? []).flatMap((pattern, at): readonly Finding[] => {
        if (parseGlob(pattern) !== undefined) return [];
        const pointer = `/spec/registries/${index}/filter/names/${list}/${at}`;
        const message = `"${pattern}" is not a glob: brackets, braces and ranges must be complete, and \\ cannot be last`;
        return [{ code: 'filter-glob-invalid', severity: 'error', pointer, message }];
      }),
    ),
  );
}

/** Pointers of fields in the service's configuration, each with the pointer of the field in the spec. */
const ORIGINS: readonly (readonly [string, string])[] = [
  ['/registries', '/spec/registries'],
  ['/database', '/spec/databaseConfig'],
  ['/auth', '/spec/authConfig'],
];

/** Codes of findings that the rules above, or the rules of configYAML, report already. */
const REPORTED_ALREADY = ['registry-config-glob', 'registry-config-name-duplicate'];
/** Code of findings that the schema of the fields reports already. */
const REPORTED_OF_FIELDS = 'registry-config-interval';

/** Returns the findings that the registry service would report at its start about the rendered configuration. */
function serviceFindings(self: EffectiveRegistry): readonly Finding[] {
  // Another finding reports that no entry of configYAML could be read.
  if (self.spec.registries.length === 0) return [];
  const read = readRegistryConfig(configText(self, {}), 'config.yaml');
  const known = self.written.configYAML === undefined ? [...REPORTED_ALREADY, REPORTED_OF_FIELDS] : REPORTED_ALREADY;
  const problems = ('config' in read ? read.warnings : read.problems).filter(({ code }) => !known.includes(code));
  return problems.map(({ severity, pointer = '', message }) => {
    const origin = ORIGINS.find(([inside]) => pointer.startsWith(inside));
    const at = origin === undefined ? '/spec' : origin[1] + pointer.slice(origin[0].length);
    const reported = message.startsWith(`${pointer}: `) ? message.slice(pointer.length + 2) : message;
    return { code: 'registry-service-config', severity, pointer: at, message: `${fieldPath(at)}: ${reported}` };
  });
}

export function inspect({ spec }: EffectiveRegistry, view: View): readonly Finding[] {
  return passwordFindings(spec.databaseConfig, view);
}
