// What is wrong with an MCPServer that neither its schema nor CEL can say: in itself (rules), and in the content of what
// it names (inspect). Knows nothing about what follows from it.

import { authzConfigError } from '../../contracts/authz-config.ts';
import { isObject } from '../../std/json.ts';
import { readDocuments } from '../../std/yaml.ts';
import type { Finding, View } from '../kind.ts';
import { resolveOIDC } from '../shared/oidc-settings.ts';
import { podTemplateFindings } from '../shared/pod-template.ts';
import { backendEnv } from './backend-env.ts';
import { proxyOrigin, type Server } from './facts.ts';

export function rules({ spec }: Server): readonly Finding[] {
  return [
    ...podTemplateFindings(spec.podTemplateSpec, '/spec/podTemplateSpec'),
    ...entitiesFindings(spec.authzConfig?.inline?.entitiesJson),
    ...secretEnvFindings({ spec }),
  ];
}

function entitiesFindings(entities: string | undefined): readonly Finding[] {
  if (entities === undefined || Array.isArray(parsed(entities))) return [];
  const pointer = '/spec/authzConfig/inline/entitiesJson';
  return [{ code: 'authz-entities-invalid', severity: 'error', pointer, message: 'entitiesJson must be a JSON list' }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A Secret that ends in a variable which is set already wins silently in the pod: say so. */
function secretEnvFindings({ spec }: Pick<Server, 'spec'>): readonly Finding[] {
  const { secrets = [], ...plain } = spec;
  const taken = new Set(backendEnv(plain).map(({ name }) => name));
  return secrets.flatMap(({ key, targetEnvName }, index): readonly Finding[] => {
    const name = targetEnvName ?? key;
    if (!taken.has(name)) {
      taken.add(name);
      return [];
    }
    const message = `${name} is set twice: the value of this Secret wins`;
    return [{ code: 'env-set-twice', severity: 'warning', pointer: `/spec/secrets/${index}`, message }];
  });
}

export function inspect(self: Server, view: View): readonly Finding[] {
  const { oidcConfig } = self.spec;
  const oidc = oidcConfig === undefined ? undefined : resolveOIDC(oidcConfig, view, proxyOrigin(self));
  return [...(oidc !== undefined && 'findings' in oidc ? oidc.findings : []), ...policyFindings(self, view)];
}

function policyFindings({ spec }: Server, view: View): readonly Finding[] {
  const ref = spec.authzConfig?.configMap;
  if (ref === undefined) return [];
  const data = view.find('ConfigMap', ref.name)?.data;
  const text = isObject(data) ? data[ref.key] : undefined;
  const fault = typeof text === 'string' ? policyFault(text) : 'is missing';
  if (fault === undefined) return [];
  const message = `ConfigMap ${ref.name}, key ${ref.key}: ${fault}`;
  return [{ code: 'authz-config-invalid', severity: 'error', pointer: '/spec/authzConfig/configMap', message }];
}

function policyFault(text: string): string | undefined {
  const [document, ...more] = readDocuments(text, '');
  const problem = document?.problems[0];
  if (problem !== undefined) return problem.message;
  return more.length > 0 ? 'holds several documents' : authzConfigError(document?.value);
}
