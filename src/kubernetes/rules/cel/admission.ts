// Declares the variables of expressions in admission policies. Source: Kubernetes 1.36, ValidatingAdmissionPolicy,
// "Validation expression".

import type { Environment } from '@marcbachmann/cel-js';
import { kubernetesEnvironment } from './environment.ts';
import { equals } from './equality.ts';
import type { ExpressionScope } from './expression.ts';
import { AUTHORIZER, AUTHORIZER_LIBRARY, AUTHORIZER_TYPE } from './library/authorizer.ts';
import { register } from './library/library.ts';
import type { CelSchema } from './schema.ts';

/** Optional variables. The scope always has `object`, `oldObject`, `request` and `namespaceObject`. */
export interface AdmissionVariables {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** Types by name. If absent, the variable `variables` does not exist. */
  readonly variables?: ReadonlyMap<string, string>;
}

type Fields = Readonly<Record<string, string>>;

const TEXTS = 'map<string, string>';

const TYPES: Readonly<Record<string, Fields>> = {
  'kubernetes.GroupVersionKind': { group: 'string', version: 'string', kind: 'string' },
  'kubernetes.GroupVersionResource': { group: 'string', version: 'string', resource: 'string' },
  'kubernetes.UserInfo': {
    username: 'string',
    uid: 'string',
    groups: 'list<string>',
    extra: 'map<string, list<string>>',
  },
  'kubernetes.AdmissionRequest': {
    kind: 'kubernetes.GroupVersionKind',
    resource: 'kubernetes.GroupVersionResource',
    subResource: 'string',
    requestKind: 'kubernetes.GroupVersionKind',
    requestResource: 'kubernetes.GroupVersionResource',
    requestSubResource: 'string',
    name: 'string',
    namespace: 'string',
    operation: 'string',
    userInfo: 'kubernetes.UserInfo',
    dryRun: 'bool',
    options: 'dyn',
  },
  'kubernetes.NamespaceSpec': { finalizers: 'list<string>' },
  'kubernetes.NamespaceCondition': {
    status: 'string',
    type: 'string',
    lastTransitionTime: 'timestamp',
    message: 'string',
    reason: 'string',
  },
  'kubernetes.NamespaceStatus': { conditions: 'list<kubernetes.NamespaceCondition>', phase: 'string' },
  'kubernetes.NamespaceMetadata': {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels: TEXTS,
    annotations: TEXTS,
    UID: 'string',
    creationTimestamp: 'timestamp',
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: 'timestamp',
    generation: 'int',
    resourceVersion: 'string',
    finalizers: 'list<string>',
  },
  'kubernetes.Namespace': {
    metadata: 'kubernetes.NamespaceMetadata',
    spec: 'kubernetes.NamespaceSpec',
    status: 'kubernetes.NamespaceStatus',
  },
};

const VARIABLES = 'kubernetes.variables';
const NO_OBJECTS: ReadonlyMap<string, CelSchema> = new Map();

let typed: Environment | undefined;
let dynamic: ExpressionScope | undefined;

/**
 * Returns the scope with which an API server compiles expressions before it accepts a policy. `object` and `params`
 * have the type dyn.
 */
export function admissionScope({ params, authorizer, variables }: AdmissionVariables): ExpressionScope {
  typed ??= typedEnvironment();
  const environment = typed.clone();
  if (params) environment.registerVariable('params', 'dyn');
  if (authorizer) environment.registerVariable('authorizer', AUTHORIZER);
  if (variables !== undefined) {
    environment.registerType(VARIABLES, { fields: Object.fromEntries(variables) });
    environment.registerVariable('variables', VARIABLES);
  }
  return { environment, objects: NO_OBJECTS };
}

/** Returns the scope in which valid expressions are evaluated. Variables have the type dyn. */
export function evaluationScope(): ExpressionScope {
  dynamic ??= { environment: evaluationEnvironment(), objects: NO_OBJECTS };
  return dynamic;
}

/** Returns the type of a policy's variable, given the result type of its expression. */
export function variableType(resultType: string): string {
  const inner = /^(list|map)<(.*)>$/.exec(resultType);
  if (inner === null) return SIMPLE.has(resultType) ? resultType : 'dyn';
  const [, container = '', parameters = ''] = inner;
  return `${container}<${parametersOf(parameters).map(variableType).join(', ')}>`;
}

const SIMPLE: ReadonlySet<string> = new Set([
  ...['bool', 'bytes', 'double', 'duration', 'int', 'null', 'string', 'timestamp', 'uint', 'list', 'map'],
]);

function parametersOf(text: string): string[] {
  let depth = 0;
  const parts = [''];
  for (const character of text) {
    if (character === '<') depth++;
    if (character === '>') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

function typedEnvironment(): Environment {
  const environment = kubernetesEnvironment();
  registerAuthorizer(environment);
  for (const [name, fields] of Object.entries(TYPES)) {
    environment.registerType(name, { fields });
    environment.registerOperator(`${name} == ${name}`, equals);
    environment.registerOperator(`${name} == null`, () => false);
  }
  environment.registerVariable('object', 'dyn');
  environment.registerVariable('oldObject', 'dyn');
  environment.registerVariable('request', 'kubernetes.AdmissionRequest');
  environment.registerVariable('namespaceObject', 'kubernetes.Namespace');
  return environment;
}

function evaluationEnvironment(): Environment {
  const environment = kubernetesEnvironment();
  registerAuthorizer(environment);
  for (const name of ['object', 'oldObject', 'request', 'namespaceObject', 'params', 'variables']) {
    environment.registerVariable(name, 'dyn');
  }
  return environment.registerVariable('authorizer', AUTHORIZER);
}

function registerAuthorizer(environment: Environment): void {
  for (const [name, type] of Object.entries(AUTHORIZER_LIBRARY.types ?? {})) environment.registerType(name, type);
  environment.registerType(AUTHORIZER, AUTHORIZER_TYPE);
  register(environment, { functions: AUTHORIZER_LIBRARY.functions ?? {} });
}
