// Finds the files and folders to which a kustomization refers, and refuses some fields. Unknown fields are refused too,
// because a newer kustomize could read further files through such a field.

import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';

export interface Reference {
  /** Path as the kustomization contains it. */
  readonly path: string;
  readonly pointer: string;
  readonly to: 'file' | 'folder' | 'either';
}

interface FieldFault {
  readonly code: 'kustomization-invalid' | 'kustomization-refused';
  readonly message: string;
  readonly pointer: string;
  readonly at?: 'key';
}

export interface Fields {
  readonly references: readonly Reference[];
  readonly faults: readonly FieldFault[];
}

type ReferenceReader = (value: Json, pointer: string) => Fields;

const NOTHING: Fields = { references: [], faults: [] };

/** Names of fields without references. */
const PLAIN = [
  'apiVersion',
  'kind',
  'metadata',
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'commonAnnotations',
  'images',
  'replicas',
  'vars',
  'sortOptions',
  'buildMetadata',
  'generatorOptions',
];

const PLUGINS = 'skep runs no plugins of kustomize: commit the generated or changed manifests';
const CHARTS = 'skep does not render Helm charts: commit the output of `helm template`';
const SCHEMAS = 'it can change how all objects are read: remove it';

/** Reasons of refusals, by name of the field. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['generators', PLUGINS],
  ['transformers', PLUGINS],
  ['validators', PLUGINS],
  ['helmCharts', CHARTS],
  ['helmGlobals', CHARTS],
  ['helmChartInflationGenerator', CHARTS],
  ['openapi', SCHEMAS],
  ['configurations', SCHEMAS],
]);

const FILE_FIELDS = { path: readFilePath };
const PATCH = { ...FILE_FIELDS, patch: readPlain, target: readPlain, options: readPlain };
const GENERATOR = {
  name: readPlain,
  namespace: readPlain,
  behavior: readPlain,
  options: readPlain,
  literals: readPlain,
  type: readPlain,
  files: readList(readSource),
  envs: readList(readFilePath),
  env: readFilePath,
};

const READERS: ReadonlyMap<string, ReferenceReader> = new Map<string, ReferenceReader>([
  ...PLAIN.map((name): [string, ReferenceReader] => [name, readPlain]),
  ['resources', readList(readPath('either'))],
  ['bases', readList(readPath('folder'))],
  ['components', readList(readPath('folder'))],
  ['crds', readList(readFilePath)],
  ['patchesStrategicMerge', readList(readPatchOrPath)],
  ['patches', readList(readMembers(PATCH))],
  ['patchesJson6902', readList(readMembers(PATCH))],
  ['replacements', readList(readMembers({ ...FILE_FIELDS, source: readPlain, targets: readPlain }))],
  ['configMapGenerator', readList(readMembers(GENERATOR))],
  ['secretGenerator', readList(readMembers(GENERATOR))],
]);

export function readFields(kustomization: JsonObject): Fields {
  return joinFields([
    checkKind(kustomization),
    ...Object.entries(kustomization).map(([name, value = null]) => readField(name, value)),
  ]);
}

function readField(name: string, value: Json): Fields {
  const pointer = `/${pointerToken(name)}`;
  const refused = REFUSED.get(name);
  if (refused !== undefined) return refuseField(pointer, `\`${name}\` of a kustomization is refused: ${refused}.`);
  const reader = READERS.get(name);
  if (reader !== undefined) return value === null ? NOTHING : reader(value, pointer);
  return refuseField(pointer, `\`${name}\` is not a field of kustomizations that skep knows: correct or remove it.`);
}

function checkKind({ apiVersion = '', kind = 'Kustomization' }: JsonObject): Fields {
  const isOwn =
    apiVersion === '' || (typeof apiVersion === 'string' && apiVersion.startsWith('kustomize.config.k8s.io/'));
  if (isOwn && (kind === 'Kustomization' || kind === 'Component')) return NOTHING;
  const message = `A file of this name holds a Kustomization or Component of kustomize.config.k8s.io, and this is ${describeKind(apiVersion, kind)}: rename the file.`;
  return {
    references: [],
    faults: [{ code: 'kustomization-invalid', message, pointer: isOwn ? '/kind' : '/apiVersion' }],
  };
}

function describeKind(apiVersion: Json, kind: Json): string {
  return [kind, apiVersion].every((each) => typeof each === 'string') ? `${kind} of ${apiVersion}` : 'something else';
}

function refuseField(pointer: string, message: string): Fields {
  return { references: [], faults: [{ code: 'kustomization-refused', message, pointer, at: 'key' }] };
}

function expect(pointer: string, what: string): Fields {
  const message = `This must be ${what}.`;
  return { references: [], faults: [{ code: 'kustomization-invalid', message, pointer }] };
}

function joinFields(all: readonly Fields[]): Fields {
  return {
    references: all.flatMap(({ references }) => references),
    faults: all.flatMap(({ faults }) => faults),
  };
}

function readPlain(): Fields {
  return NOTHING;
}

function readList(reader: ReferenceReader): ReferenceReader {
  return (value, pointer) => {
    if (!Array.isArray(value)) return expect(pointer, 'a list');
    return joinFields(value.map((item, index) => reader(item, `${pointer}/${index}`)));
  };
}

function readMembers(readers: Readonly<Record<string, ReferenceReader>>): ReferenceReader {
  return (value, pointer) => {
    if (!isObject(value)) return expect(pointer, 'a mapping');
    return joinFields(
      Object.entries(value).map(([name, inner = null]) => {
        const at = `${pointer}/${pointerToken(name)}`;
        const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
        if (reader === undefined)
          return refuseField(at, `\`${name}\` is not a field that skep knows here: correct or remove it.`);
        return inner === null ? NOTHING : reader(inner, at);
      }),
    );
  };
}

function readPath(to: Reference['to']): ReferenceReader {
  return (value, pointer) => {
    if (typeof value !== 'string' || value === '') return expect(pointer, 'a path');
    return { references: [{ path: value, pointer, to }], faults: [] };
  };
}

function readFilePath(value: Json, pointer: string): Fields {
  return readPath('file')(value, pointer);
}

/** Reads a source of a generator: `path`, or `key=path`. */
function readSource(value: Json, pointer: string): Fields {
  if (typeof value !== 'string') return expect(pointer, 'a path, or key=path');
  return readFilePath(value.slice(value.indexOf('=') + 1), pointer);
}

/** Reads a text that is a patch or a path. A text of several lines is a patch if each document in it has a kind. */
function readPatchOrPath(value: Json, pointer: string): Fields {
  if (typeof value !== 'string') return expect(pointer, 'a path, or a patch as text');
  const documents = value.includes('\n') ? readDocuments(value, '') : [];
  const isPatch =
    documents.length > 0 &&
    documents.every(
      (each) => each.problems.length === 0 && isObject(each.value) && typeof each.value.kind === 'string',
    );
  return isPatch ? NOTHING : readFilePath(value, pointer);
}
