// `skep mcp`: serves status, plans and explanations of an instance to MCP clients, on standard streams or on a local
// address.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from '#hosts/config/configuration.ts';
import { commandOf } from '#hosts/own-command.ts';
import { Failure } from '#std/failure.ts';
import { ACTIONS, type OperatorAction } from '../mcp/actions.ts';

interface Options extends InstanceFlags {
  readonly allow?: readonly OperatorAction[];
  readonly listen?: string;
  readonly tokenFile?: string;
}

const EXAMPLES = `
Reads Git and the cluster with the rights of its kubeconfig. Actions are off unless they are allowed, and need the
confirmation of a person: the client shows the exact list of deletions, or the commits.

Examples:
  skep mcp -c skep.yaml
  skep mcp -c skep.yaml --allow approve,rollback
  skep mcp -c skep.yaml --listen 127.0.0.1:8090 --token-file token
  claude mcp add skep -- skep mcp -c /path/to/skep.yaml`;

export function mcpCommand(): Command {
  return withInstanceFlags(new Command('mcp'))
    .description('Serve the state of the fleet to MCP clients: status, explain, plan, diff, history, validate, search.')
    .option('--allow <actions>', `actions that clients may request, with commas: ${ACTIONS.join(', ')}`, readActions)
    .option('--listen <address>', 'serve streamable HTTP on this address of this machine instead of standard streams')
    .option('--token-file <file>', 'with --listen: file with the tokens of clients, one a line')
    .addHelpText('after', EXAMPLES)
    .action(serveMcp);
}

function readActions(text: string): readonly OperatorAction[] {
  return text.split(',').map((each) => {
    const name = each.trim();
    const action = ACTIONS.find((known) => known === name);
    if (action !== undefined) return action;
    throw new Failure('usage', `--allow knows no action "${name}"; the actions are ${ACTIONS.join(', ')}`);
  });
}

async function serveMcp({ allow = [], listen, tokenFile, ...flags }: Options): Promise<void> {
  if ((listen === undefined) !== (tokenFile === undefined))
    throw new Failure(
      'usage',
      '--listen and --token-file go together: every user of this machine can reach the address',
    );
  const [{ createLogger }, { chooseTools }, { createCallTool, LIMITS }, { createSkepServer }, { awaitSignal }] =
    await Promise.all([
      import('#hosts/log.ts'),
      import('../mcp/tools.ts'),
      import('../mcp/call-tool.ts'),
      import('../mcp/server.ts'),
      import('#hosts/signals.ts'),
    ]);
  const tools = chooseTools(await loadConfig(flags), allow);
  const logger = createLogger('info', process.stderr);
  // The configuration is read again for each call, because an assistant may run for days.
  const callTool = createCallTool({
    readConfig: () => loadConfig(flags),
    commandOf: commandOf(flags),
    logger,
    limits: LIMITS,
  });
  const create = () => createSkepServer(tools, callTool);
  if (listen !== undefined && tokenFile !== undefined) {
    const { listenForMcp } = await import('../mcp/listen.ts');
    const listener = await listenForMcp(listen, tokenFile, { create, logger });
    process.stderr.write(`serving ${listener.url}\n`);
    await awaitSignal();
    return listener.stop();
  }
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  const closed = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve));
  const connection = serveStdio(create);
  await Promise.race([closed, awaitSignal()]);
  await connection.close();
}
