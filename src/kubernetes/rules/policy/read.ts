// Reads files of policies, bindings and parameters, and reports the faults that an API server would find.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Problem, SourcePlace } from '#std/problem.ts';
import { type ReadDocument, readDocuments } from '#std/yaml/yaml.ts';
import type { Finding } from '../finding.ts';
import { idOf, type KubeObject, keyOf } from '../object.ts';
import { bundledSchema } from '../schemas/bundled.ts';
import { checkBuiltin } from '../structural/builtin.ts';
import { checkMetadata } from '../structural/metadata.ts';
import { checkBinding, checkPolicy } from './check.ts';
import { matchesCreations } from './match.ts';
import { BINDING_KIND, type Binding, bindingOf, POLICY_API, POLICY_KIND, type Policy, policyOf } from './policy.ts';

export interface PolicyFile {
  readonly path: string;
  readonly text: string;
}

export interface PolicySet {
  readonly policies: readonly Policy[];
  readonly bindings: readonly Binding[];
  /** Parameters, and all other objects in the files. */
  readonly objects: readonly KubeObject[];
  /** Places in the files by policy name. */
  readonly places: ReadonlyMap<string, SourcePlace>;
}

export interface ReadPolicies {
  readonly set: PolicySet;
  /** If a problem is an error, the set must not be used. */
  readonly problems: readonly Problem[];
}

interface PolicyFileObject {
  readonly object: KubeObject;
  readonly document: ReadDocument;
  readonly findings: readonly Finding[];
}

/** Reads the files. A repeated object replaces the earlier object, as if the files were applied in this order. */
export function readPolicies(files: readonly PolicyFile[]): ReadPolicies {
  const problems: Problem[] = [];
  const latest = new Map<string, PolicyFileObject>();
  for (const { path, text } of files) {
    for (const document of readDocuments(text, path)) {
      problems.push(...document.problems);
      if (document.value === undefined || document.value === null) continue;
      const fault = identityFault(document.value);
      if (fault !== undefined) {
        problems.push(problemIn(document, fault));
        continue;
      }
      const object = document.value as KubeObject;
      latest.set(keyOf(idOf(object)), { object, document, findings: checkObject(object) });
    }
  }
  for (const { document, findings } of latest.values()) {
    problems.push(...findings.map((finding) => problemIn(document, finding)));
  }
  const set = setOf([...latest.values()]);
  const read = [...latest.values()];
  return { set, problems: [...problems, ...unboundProblems(set, read), ...unevaluatedProblems(set, read)] };
}

function setOf(read: readonly PolicyFileObject[]): PolicySet {
  const sound = read.filter(({ findings }) => findings.length === 0);
  const policies = sound.filter(({ object }) => isPolicy(object));
  const bindings = sound.filter(({ object }) => isBinding(object));
  return {
    policies: policies.map(({ object }) => policyOf(object)),
    bindings: bindings.map(({ object }) => bindingOf(object)),
    objects: sound.filter((each) => !policies.includes(each) && !bindings.includes(each)).map(({ object }) => object),
    places: new Map(policies.map(({ object, document }) => [object.metadata.name, document.place('/metadata/name')])),
  };
}

function isPolicy({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === POLICY_API && kind === POLICY_KIND;
}

function isBinding({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === POLICY_API && kind === BINDING_KIND;
}

function checkObject(object: KubeObject): readonly Finding[] {
  const json: unknown = object;
  const fields = isObject(json) ? json : {};
  const metadata = checkMetadata(object.metadata, '/metadata');
  if (!isPolicy(object) && !isBinding(object)) return metadata;
  const schema = bundledSchema(POLICY_API);
  const identity = { group: 'admissionregistration.k8s.io', version: 'v1', kind: object.kind };
  const shape = schema === undefined ? [] : (checkBuiltin(schema, identity, fields) ?? []);
  if (shape.length > 0) return [...metadata, ...shape];
  return [...metadata, ...(isPolicy(object) ? checkPolicy(fields) : checkBinding(fields))];
}

function identityFault(value: unknown): Finding | undefined {
  const { apiVersion, kind, metadata } = isObject(value) ? value : ({} satisfies JsonObject);
  const named = isObject(metadata) && typeof metadata.name === 'string' && metadata.name !== '';
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    return fault('', 'A file of policies holds Kubernetes objects, each with apiVersion, kind and metadata.name.');
  }
  if (kind === 'List') return fault('/kind', 'Lists are not read here: write one document per object.');
  if (apiVersion.startsWith('admissionregistration.k8s.io/') && apiVersion !== POLICY_API) {
    return fault(
      '/apiVersion',
      `${kind} is read in ${POLICY_API}, not in ${apiVersion}: its fields are the same there.`,
    );
  }
  if (apiVersion === POLICY_API && kind !== POLICY_KIND && kind !== BINDING_KIND) {
    return fault('/kind', `${kind} cannot be evaluated without a cluster: keep it in another folder.`);
  }
  return named ? undefined : fault('/metadata/name', 'metadata.name is missing.');
}

function fault(pointer: string, message: string): Finding {
  return { code: 'policy-invalid', severity: 'error', pointer, message };
}

function unboundProblems({ policies, bindings }: PolicySet, read: readonly PolicyFileObject[]): Problem[] {
  const named = new Set(bindings.map(({ policyName }) => policyName));
  const known = new Set(read.filter(({ object }) => isPolicy(object)).map(({ object }) => object.metadata.name));
  return read.flatMap(({ object, document }) => {
    const { name } = object.metadata;
    const binding = bindings.find((each) => isBinding(object) && each.name === name);
    if (binding !== undefined && !known.has(binding.policyName)) {
      const message = `There is no policy "${binding.policyName}" in these files: the binding has no effect.`;
      return [problemIn(document, unbound('/spec/policyName', message))];
    }
    if (!policies.some((policy) => isPolicy(object) && policy.name === name) || named.has(name)) return [];
    return [problemIn(document, unbound('/metadata/name', `No binding names policy "${name}": it has no effect.`))];
  });
}

/** Warns about policies that do not apply to creations. Manifests are evaluated as creations only. */
function unevaluatedProblems({ policies }: PolicySet, read: readonly PolicyFileObject[]): Problem[] {
  return read.flatMap(({ object, document }) => {
    const policy = policies.find(({ name }) => isPolicy(object) && name === object.metadata.name);
    if (policy === undefined || matchesCreations(policy.match)) return [];
    const message = `Policy "${policy.name}" does not apply to creations, so only an API server evaluates it.`;
    const pointer = '/spec/matchConstraints/resourceRules';
    return [problemIn(document, { code: 'policy-not-evaluated', severity: 'warning', pointer, message })];
  });
}

function unbound(pointer: string, message: string): Finding {
  return { code: 'policy-unbound', severity: 'warning', pointer, message };
}

function problemIn(document: ReadDocument, { code, severity, message, pointer, at }: Finding): Problem {
  return { code, severity, message, pointer, place: document.place(pointer, at) };
}
