// Runs example manifests as a cluster would: renders a manifest to the configuration of `skep vmcp serve`, and starts
// it with the variables of its Deployment and with real MCP servers.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatVmcpConfig, readVmcpConfig, VMCP_CONFIG_FILE, type VmcpConfig } from '#contracts/vmcp-config.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { SKEP, startProxy } from '../../harness/mcp-modes.ts';
import { type Program, startProgram } from '../../harness/mcp-program.ts';
import { filesystemServer, memoryServer, type StartServer, startEverything } from '../../harness/mcp-servers.ts';
import { readFixture, SETTINGS } from '../../reconciler/kinds/fixture.ts';
import { startEmbeddings, type TestEmbeddings } from './embeddings.ts';
import { startMember, tool } from './member.ts';

export interface ExampleWorld {
  /** Folder that the file server may read. */
  readonly files: string;
  readonly issuer: Issuer;
  readonly embeddings: TestEmbeddings;
  serve(shape: string): Promise<ServedExample>;
  close(): Promise<void>;
}

export interface ServedExample {
  readonly url: string;
  readonly program: Program;
  stop(): Promise<void>;
}

/** URL of a closed port. */
const NOWHERE = 'http://127.0.0.1:1/mcp';

export async function startExampleWorld(): Promise<ExampleWorld> {
  const folder = temporaryFolder();
  const closing: (() => unknown)[] = [() => folder.remove()];
  const files = join(folder.path, 'files');
  mkdirSync(files);
  writeFileSync(join(files, 'one.txt'), 'first');
  writeFileSync(join(files, 'two.txt'), 'second');
  const everything = await startEverything({ transport: 'http', eras: 'session' });
  closing.push(everything.stop);
  const behindProxy = async (start: StartServer): Promise<string> => {
    const { backend } = await start({ transport: 'stdio', eras: 'session' });
    const { command, env } = backend;
    const stdio = { sharing: 'shared', pods: 1 } as const;
    const proxy = await startProxy({ transport: 'stdio', process: { command, env }, stdio });
    closing.push(proxy.stop);
    return proxy.url;
  };
  const members = {
    twin: await startMember({ name: 'twin', tools: [tool('echo'), tool('sing')] }),
    desk: await startMember({ name: 'desk', tools: [tool('open')], authorization: 'Bearer let-me-in' }),
    counter: await startMember({
      name: 'counter',
      tools: [tool('count')],
      admits: ({ headers }) => headers['x-key'] === 'open-sesame',
    }),
  };
  for (const { close } of Object.values(members)) closing.push(close);
  const urls: Readonly<Record<string, string>> = {
    everything: everything.backend.url.href,
    files: await behindProxy(filesystemServer(files)),
    memory: await behindProxy(memoryServer(join(folder.path, 'memory.json'))),
    ...Object.fromEntries(Object.entries(members).map(([name, { url }]) => [name, url])),
  };
  const [issuer, embeddings] = [await startIssuer(), await startEmbeddings()];
  closing.push(issuer.close, embeddings.close);
  return {
    ...{ files, issuer, embeddings },
    serve: (shape) => serve(shape, folder, (config) => moved(config, urls, issuer.url, embeddings.url)),
    async close() {
      for (const close of closing.reverse()) await close();
    },
  };
}

/** Returns the configuration with the URLs of this machine's servers. */
function moved(
  { backends, incomingAuth, optimizer, ...others }: VmcpConfig,
  urls: Readonly<Record<string, string>>,
  issuer: string,
  embeddingService: string,
): VmcpConfig {
  return {
    ...others,
    backends: backends.map(({ name }) => ({ name, url: urls[name] ?? NOWHERE, transport: 'streamable-http' })),
    incomingAuth: { ...incomingAuth, ...(incomingAuth.oidc && { oidc: { ...incomingAuth.oidc, issuer } }) },
    ...(optimizer && { optimizer: { ...optimizer, embeddingService } }),
  };
}

async function serve(
  shape: string,
  { path: folder }: Folder,
  move: (config: VmcpConfig) => VmcpConfig,
): Promise<ServedExample> {
  const { config, environment } = render(shape, folder);
  const file = join(folder, `${shape}.config.yaml`);
  writeFileSync(file, formatVmcpConfig(move(config)));
  const program = startProgram([SKEP, 'vmcp', 'serve', '--config', file, '--port', '0'], environment);
  const [, url = ''] = await program.printed(/serving (http:\S+)/);
  return { url, program, stop: () => program.stop() };
}

type Folder = Pick<ReturnType<typeof temporaryFolder>, 'path'>;

interface Rendered {
  readonly config: VmcpConfig;
  readonly environment: Record<string, string>;
}

function render(shape: string, folder: string): Rendered {
  const examples = join(import.meta.dirname, 'examples/shapes');
  const texts = [`${shape}.yaml`, 'common.yaml'].map((name) => readFileSync(join(examples, name), 'utf8'));
  const file = join(folder, `${shape}.yaml`);
  writeFileSync(file, texts.join('---\n'));
  const kind = KINDS.find((each) => each.kind === 'VirtualMCPServer');
  if (kind === undefined) throw new Error('there is no kind VirtualMCPServer');
  const { resource, view, around, problems } = readFixture(kind, file, shape);
  const errors = problems.filter((problem) => problem.includes(' error '));
  if (errors.length > 0) throw new Error(errors.join('\n'));
  const children = kind.children(resource, view, SETTINGS);
  const [text = ''] = children.flatMap(({ data }) => {
    const found = isObject(data) ? data[VMCP_CONFIG_FILE] : undefined;
    return typeof found === 'string' ? [found] : [];
  });
  const read = readVmcpConfig(text);
  if ('fault' in read) throw new Error(read.fault);
  return { config: read.config, environment: environmentOf(children, around) };
}

/** Returns the environment of the container: only variables with values from Secrets in the manifests. */
function environmentOf(children: readonly KubeObject[], around: readonly JsonObject[]): Record<string, string> {
  const deployment = children.find(({ kind }) => kind === 'Deployment') as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly JsonObject[] } } };
  };
  const [container] = deployment.spec.template.spec.containers;
  return Object.fromEntries(
    objectsIn(container?.env).flatMap(({ name, valueFrom }) => {
      const ref = isObject(valueFrom) ? valueFrom.secretKeyRef : undefined;
      const value = isObject(ref) ? secretValue(around, String(ref.name), String(ref.key)) : undefined;
      return value === undefined ? [] : [[String(name), value]];
    }),
  );
}

function secretValue(around: readonly JsonObject[], name: string, key: string): string | undefined {
  const secret = around.find(({ kind, metadata }) => kind === 'Secret' && isObject(metadata) && metadata.name === name);
  const value = isObject(secret?.stringData) ? secret.stringData[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
