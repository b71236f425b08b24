// What is committed, one step after the other, out of a seed: a fleet of about the same size for ever, in which something
// else changes each time. Pure.

import { type Random, seeded } from '../../test/harness/random.ts';
import { API_GROUP, registryOf } from '../bench/manifests.ts';

export interface Step {
  /** Says what happens; the message of the commit. */
  readonly what: string;
  /** By path; null removes one. */
  readonly files: Readonly<Record<string, string | null>>;
  /** So many of the last commits are taken back first, by force. */
  readonly rewind: number;
  /** Whether the commit holds a manifest that is not valid. */
  readonly broken: boolean;
  /** What the registry file says of itself from now on: the number of the step that wrote it. */
  readonly marked: number;
}

export interface Story {
  /** The fleet as it begins. */
  readonly first: Step;
  next(): Step;
}

export interface StorySettings {
  readonly seed: number;
  /** Of the Git repository that everything is in. */
  readonly repository: string;
}

export const NAMESPACE = 'soak';
export const REGISTRY = 'tools';
/** Below it all manifests are. */
export const FLEET_PATH = 'cluster';
/** Where manifests are that are not valid. */
export const BROKEN_PATH = `${FLEET_PATH}/broken.yaml`;
export const MOUNTED_FILE = 'mounted.json';
/** Named by the registry file, with an image whose tag is `0.0.` and the number of the step that wrote it. */
export const MARKER = 'soak-marker';

const GROUPS = ['red', 'green', 'blue'];
const SERVERS_MAX = 36;
const SERVERS_AT_FIRST = 24;
const ENTRIES_AT_FIRST = 300;
const ENTRIES_MAX = 330;
const IMAGES = 'images.example.com/mcp';

interface State {
  readonly random: Random;
  readonly repository: string;
  /** Manifests of servers that are there, by number. */
  readonly servers: Map<number, string>;
  /** Numbers of the entries of the registry file that are left out. */
  readonly left: Set<number>;
  steps: number;
  /** The step that wrote the registry file. */
  marked: number;
  /** What the step before broke is fixed by the next. */
  broken: boolean;
}

export function createStory({ seed, repository }: StorySettings): Story {
  const state: State = {
    random: seeded(seed),
    repository,
    servers: new Map(),
    left: new Set(Array.from({ length: ENTRIES_MAX - ENTRIES_AT_FIRST }, (_, index) => ENTRIES_AT_FIRST + index)),
    steps: 0,
    marked: 0,
    broken: false,
  };
  return { first: firstStep(state), next: () => nextStep(state) };
}

function firstStep(state: State): Step {
  const numbers = Array.from({ length: SERVERS_AT_FIRST }, (_, number) => number);
  const servers = numbers.map((number) => [pathOf(number), newServer(state, number)]);
  const files = {
    [`${FLEET_PATH}/namespace.yaml`]: `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${NAMESPACE}}\n`,
    [`${FLEET_PATH}/groups.yaml`]: GROUPS.map(group).join('---\n'),
    [`${FLEET_PATH}/few.yaml`]: fewEntries(0),
    [`${FLEET_PATH}/registry.yaml`]: registry(state.repository, 0),
    'registry.json': registryFile(state),
    ...Object.fromEntries(servers),
  };
  return step(state, 'the fleet', files);
}

function nextStep(state: State): Step {
  state.steps += 1;
  if (state.broken) {
    state.broken = false;
    return step(state, 'mend the manifest', { [BROKEN_PATH]: null });
  }
  const { steps } = state;
  // Apart from each other, so that each of them comes even in a short soak.
  if (steps % 24 === 5) return broken(state);
  if (steps % 36 === 11) return forced(state);
  if (steps % 24 === 17) {
    return step(state, 'ask for a sync', { [`${FLEET_PATH}/registry.yaml`]: registry(state.repository, steps) });
  }
  return changed(state);
}

/** Of a state in which everything is written that the files are made of. */
function step({ marked }: State, what: string, files: Step['files'], rewind = 0): Step {
  return { what, files, rewind, broken: false, marked };
}

/** One file that no one can read, or one that breaks the schema. */
function broken(state: State): Step {
  state.broken = true;
  const wrong = server(state, 999).replace('transport:', 'tranport:');
  const text = state.random.chance(0.5) ? wrong : 'apiVersion: v1\nkind: [not closed\n';
  return { ...step(state, 'break a manifest', { [BROKEN_PATH]: text }), broken: true };
}

/** Two commits are gone from the branch, and what they changed is as it was before, or not: everything is written anew. */
function forced(state: State): Step {
  const files = [...state.servers].map(([number, text]) => [pathOf(number), text]);
  const gone = Array.from({ length: SERVERS_MAX }, (_, number) => number).filter((each) => !state.servers.has(each));
  return step(
    state,
    'force another history',
    {
      ...Object.fromEntries(gone.map((number) => [pathOf(number), null])),
      ...Object.fromEntries(files),
      [`${FLEET_PATH}/few.yaml`]: fewEntries(state.steps),
      'registry.json': registryFile(state),
    },
    2,
  );
}

/** One thing of the fleet, and in most steps one of the registry. */
function changed(state: State): Step {
  const { random, steps } = state;
  const fleet = fleetChange(state);
  if (random.chance(0.2)) {
    return step(state, `${fleet.what}, few entries`, { ...fleet.files, [`${FLEET_PATH}/few.yaml`]: fewEntries(steps) });
  }
  const number = random.integer(ENTRIES_MAX);
  if (!state.left.delete(number) && state.left.size < ENTRIES_MAX - ENTRIES_AT_FIRST + 20) state.left.add(number);
  return step(state, `${fleet.what}, entry ${number}`, { ...fleet.files, 'registry.json': registryFile(state) });
}

function fleetChange(state: State): { readonly what: string; readonly files: Step['files'] } {
  const { random, servers } = state;
  const number = random.integer(SERVERS_MAX);
  const path = pathOf(number);
  const before = servers.get(number);
  if (before === undefined) return { what: `add server ${number}`, files: { [path]: newServer(state, number) } };
  if (random.chance(0.4)) {
    servers.delete(number);
    return { what: `remove server ${number}`, files: { [path]: null } };
  }
  return { what: `change server ${number}`, files: { [path]: newServer(state, number) } };
}

function pathOf(number: number): string {
  return `${FLEET_PATH}/servers/server-${number}.yaml`;
}

function newServer(state: State, number: number): string {
  const text = server(state, number);
  state.servers.set(number, text);
  return text;
}

/** Another group, image, transport and environment each time. */
function server({ random, steps }: State, number: number): string {
  const transport = random.pick(['stdio', 'sse', 'streamable-http']);
  const port = transport === 'stdio' ? '' : `  mcpPort: ${3000 + random.integer(50)}\n`;
  return `apiVersion: ${API_GROUP}/v1alpha1
kind: MCPServer
metadata:
  name: server-${number}
  namespace: ${NAMESPACE}
spec:
  image: ${IMAGES}/server-${number}:1.${random.integer(5)}.0
  transport: ${transport}
  groupRef: ${random.pick(GROUPS)}
${port}  env:
    - name: ENDPOINT_URL
      value: https://service-${number}.example.com
    - name: STEP
      value: "${steps}"
`;
}

function group(name: string): string {
  return `apiVersion: ${API_GROUP}/v1alpha1
kind: MCPGroup
metadata: {name: ${name}, namespace: ${NAMESPACE}}
spec: {description: The ${name} ones.}
`;
}

/** From Git, from a ConfigMap, and from a volume, which the service reads itself. Another `trigger` asks for a sync. */
function registry(repository: string, trigger: number): string {
  return `apiVersion: ${API_GROUP}/v1alpha1
kind: MCPRegistry
metadata:
  name: ${REGISTRY}
  namespace: ${NAMESPACE}
  annotations:
    ${API_GROUP}/sync-trigger: "${trigger}"
spec:
  registries:
    - name: catalogue
      format: toolhive
      git: {repository: "${repository}", branch: main, path: registry.json}
      syncPolicy: {interval: 10s}
    - name: few
      format: toolhive
      configMapRef: {name: few, key: registry.json}
      syncPolicy: {interval: 10s}
    - name: mounted
      format: toolhive
      pvcRef: {claimName: shared, path: ${MOUNTED_FILE}}
      syncPolicy: {interval: 10s}
`;
}

function fewEntries(steps: number): string {
  const text = JSON.stringify(registryOf(5 + (steps % 3)));
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: few, namespace: ${NAMESPACE}}
data:
  registry.json: ${JSON.stringify(text)}
`;
}

const { servers: ENTRIES } = registryOf(ENTRIES_MAX) as {
  readonly servers: Readonly<Record<string, { image: string }>>;
};

function registryFile(state: State): string {
  const { left, steps } = state;
  state.marked = steps;
  const kept = Object.entries(ENTRIES).filter((_, number) => !left.has(number));
  const [[, sample] = ['', { image: '' }]] = kept;
  const marker = { ...sample, image: `${IMAGES}/${MARKER}:0.0.${steps}` };
  return JSON.stringify({ version: '1.0.0', servers: { ...Object.fromEntries(kept), [MARKER]: marker } }, null, 1);
}
