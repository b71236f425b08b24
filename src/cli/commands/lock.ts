// `skep lock`: writes the tool definitions of a server into its ToolLock, or compares them with the ToolLock.

import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { Command } from 'commander';
import type { Offered } from '#contracts/tool-lock/compare.ts';
import { withInstanceFlags } from '#hosts/config/configuration.ts';
import { Failure } from '#std/failure.ts';
import { countText } from '#std/words/count-text.ts';
import type { LockableServer } from '../lock/servers.ts';
import { findSurroundings, type LockFlags, type Surroundings } from '../lock/surroundings.ts';

interface Options extends LockFlags {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly check?: true;
  readonly update?: true;
  readonly diff?: true;
}

const EXAMPLES = `
A ToolLock is a file *.tools.yaml next to the manifest of a server: the definitions of its tools as they were reviewed.
Without --url the definitions come from the cluster: the proxy of a server whose annotation skep.dev/tools-lock is
report or enforce reports differences from its lock; for an MCPServerEntry, the virtual servers
that call it. Prompts and resource templates are locked, too.

Examples:
  skep lock holidays --url http://127.0.0.1:9000/mcp
  skep lock ops/holidays --diff
  skep lock ops/holidays --update
  skep lock --check`;

/** Exit code if a server differs from its lock. */
const DRIFTED = 2;

export function lockCommand(): Command {
  return withInstanceFlags(new Command('lock'))
    .description('Write the definitions of an MCP server into its ToolLock, or compare the two.')
    .argument('[server...]', '[namespace/]name of servers among the manifests; without it, all servers with a lock')
    .option(
      '--path <folder>',
      'folder with the manifests (default: the folder of a local source of the configuration, or ".")',
    )
    .option('--url <url>', 'URL of the server itself, which is used in place of the cluster')
    .option('--token-file <file>', 'file with a token for --url')
    .option('--api-group <group>', 'API group of the custom resources (default: from the configuration)')
    .option('--check', 'write nothing; exit code 2 if a server differs from its lock, or has none')
    .option('--update', 'accept the differences')
    .option('--diff', 'write nothing; show the old text next to the new one')
    .addHelpText('after', EXAMPLES)
    .action(lockServers);
}

async function lockServers(names: readonly string[], options: Options): Promise<void> {
  const { url, check, update, diff } = options;
  if ([check, update, diff].filter((each) => each === true).length > 1) {
    throw new Failure('usage', 'only one of --check, --update and --diff is possible');
  }
  if (url !== undefined && names.length !== 1) throw new Failure('usage', '--url needs the name of one server');
  const [surroundings, { findServers }] = await Promise.all([findSurroundings(options), import('../lock/servers.ts')]);
  const { path, apiGroup } = surroundings;
  const servers = await findServers(path, names, { apiGroup, environment: process.env });
  if (servers.length === 0) throw new Failure('usage', `no server in ${path} has a lock: name one to begin with`);
  const asking = await openAsking(options, surroundings);
  try {
    for (const server of servers) await lockServer(server, await asking.ask(server), { ...options, ...asking });
  } finally {
    await asking.close();
  }
}

async function lockServer(
  server: LockableServer,
  offered: Offered,
  { check, update, diff, digestOf }: Options & Pick<Asker, 'digestOf'>,
): Promise<void> {
  const [{ compareWithLock }, { textOfDifferences, textSideBySide }] = await Promise.all([
    import('#contracts/tool-lock/compare.ts'),
    import('../lock/text.ts'),
  ]);
  const { namespace, name, lock, file } = server;
  const differences = compareWithLock(lock, offered);
  const id = `${namespace}/${name}`;
  if (diff === true) {
    process.stdout.write(
      differences.length === 0 ? `${id} is as ${file} says\n` : textSideBySide(differences, columns()),
    );
    return;
  }
  const count = countText(differences.length, 'definition differs', 'definitions differ');
  const isWritten = check !== true && (lock === undefined || update === true);
  if (isWritten) await writeLock(server, offered, await digestOf(server));
  if (differences.length === 0) process.stdout.write(`${id} is as ${file} says\n`);
  else if (isWritten) process.stdout.write(`${file} is written: ${id}\n${textOfDifferences(differences)}`);
  else {
    process.stdout.write(
      `${id}: ${count} from ${lock === undefined ? 'a missing lock' : file}\n${textOfDifferences(differences)}`,
    );
    if (check !== true) process.stderr.write('Look at them with --diff, and accept them with --update.\n');
    process.exitCode = DRIFTED;
  }
}

function columns(): number {
  return process.stdout.columns ?? 160;
}

/**
 * Writes the lock. If an existing lock has no list of prompts or of resource templates, the new lock has no such list.
 */
async function writeLock(
  { namespace, name, server, lock, file }: LockableServer,
  offered: Offered,
  digest: string | undefined,
): Promise<void> {
  const { formatToolLock } = await import('#contracts/tool-lock/text.ts');
  const { tools, prompts, resourceTemplates } = offered;
  const spec = {
    server: { ...server, ...(digest === undefined ? {} : { digest }) },
    tools: [...tools],
    ...(lock === undefined || lock.prompts !== undefined ? { prompts: [...prompts] } : {}),
    ...(lock === undefined || lock.resourceTemplates !== undefined
      ? { resourceTemplates: [...resourceTemplates] }
      : {}),
  };
  const text = formatToolLock({ namespace, name, spec });
  if (text === undefined) {
    throw new Failure('lock-definition-refused', `a definition of ${namespace}/${name} cannot be written as YAML`);
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Asker {
  ask(server: LockableServer): Promise<Offered>;
  /** Returns the digest of the server's image; undefined if the digest is unknown. */
  digestOf(server: LockableServer): Promise<string | undefined>;
  close(): Promise<void>;
}

async function openAsking(options: Options, surroundings: Surroundings): Promise<Asker> {
  const { askDefinitions, readDigest, readOffered } = await import('../lock/ask.ts');
  if (options.url === undefined) {
    const cluster = await connectForReports(surroundings);
    return {
      ask: (server) => readOffered(cluster, server),
      digestOf: (server) => readDigest(cluster, server),
      close: () => cluster.close(),
    };
  }
  const { url, tokenFile } = options;
  if (!URL.canParse(url)) throw new Failure('usage', `${url} is not a URL`);
  const [{ useServer }, { openTerminal }, { loginFile, stateFolder }, { readSecretFile: secretsFrom }] =
    await Promise.all([
      import('../call/call.ts'),
      import('../call/terminal.ts'),
      import('../call/logins.ts'),
      import('#hosts/config/secret-file.ts'),
    ]);
  const [token] = tokenFile === undefined ? [] : await secretsFrom(tokenFile);
  const server = new URL(url);
  const login = {
    file: loginFile(stateFolder(process.env, homedir()), server.href),
    ...{ clientId: undefined, clientSecret: undefined, scope: undefined },
    browser: process.env.BROWSER,
    newState: () => randomBytes(16).toString('base64url'),
  };
  const settings = { url: server, token, login, terminal: openTerminal(process) };
  return {
    ask: () => useServer(settings, askDefinitions),
    // The image of the server at the URL is unknown, so only a digest in the manifest is used.
    digestOf: async (server) => server.server.digest,
    close: async () => undefined,
  };
}

const TIMEOUT_MS = 30_000;

async function connectForReports({ kubeconfig, context }: Surroundings) {
  const [{ connectCluster }, { systemClock }, { VERSION }] = await Promise.all([
    import('#adapters/cluster/connect.ts'),
    import('#hosts/clock.ts'),
    import('#hosts/version.ts'),
  ]);
  return connectCluster({
    usual: process.env.KUBECONFIG ?? '',
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    fieldManager: 'skep-lock',
    concurrency: 2,
    version: VERSION,
    clock: systemClock,
    timeoutMs: TIMEOUT_MS,
  });
}
