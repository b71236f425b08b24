// Builds the command line, prints Failures for people, and sets exit codes. The modules of a command are loaded only if
// the command runs, so that `--help` and `validate` start fast.

import { Command, CommanderError, type OutputConfiguration } from 'commander';
import { writeColoured } from '#hosts/colour.ts';
import { VERSION } from '#hosts/version.ts';
import { didYouMean } from '#std/closest.ts';
import { Failure } from '#std/failure.ts';
import { commandAdvice, devAdvice, withOptionAdvice } from './advice.ts';
import { adoptCommand } from './commands/adopt.ts';
import { applyCommand } from './commands/apply.ts';
import { approveCommand } from './commands/approve.ts';
import { callCommand } from './commands/call.ts';
import { clientsCommand } from './commands/clients.ts';
import { completionCommand } from './commands/completion.ts';
import { convertCommand } from './commands/convert.ts';
import { crdsCommand } from './commands/crds.ts';
import { devCommand } from './commands/dev.ts';
import { explainCommand } from './commands/explain.ts';
import { historyCommand } from './commands/history.ts';
import { initCommand } from './commands/init.ts';
import { lockCommand } from './commands/lock.ts';
import { mcpCommand } from './commands/mcp.ts';
import { migrateCommand } from './commands/migrate.ts';
import { planCommand } from './commands/plan.ts';
import { proxyCommand } from './commands/proxy.ts';
import { resumeCommand } from './commands/resume.ts';
import { rollbackCommand } from './commands/rollback.ts';
import { runCommand } from './commands/run.ts';
import { sampleCommand } from './commands/sample.ts';
import { serveCommand } from './commands/serve.ts';
import { statusCommand } from './commands/status.ts';
import { suspendCommand } from './commands/suspend.ts';
import { syncCommand } from './commands/sync.ts';
import { triggerCommand } from './commands/trigger.ts';
import { validateCommand } from './commands/validate.ts';
import { vmcpCommand } from './commands/vmcp.ts';

const EXIT_CODES = `
Exit codes:
  0 done                   1 Git, cluster, database or disk failed
  2 changes pending (--detailed-exitcode, or paused)
  3 invalid manifests      4 denied by policies
  5 deletions, or unsigned changes, wait for approval
  6 locked by another run  7 some changes failed     8 timed out waiting   64 usage`;

const USAGE = 64;

/** Returns the program with all commands, before parsing. */
export function commandLine(): Command {
  const program = new Command('skep')
    .description('Keeps a fleet of MCP servers as declared in Git, and serves its catalogue.')
    .version(VERSION)
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .configureOutput(OUTPUT)
    .showHelpAfterError('(--help shows the options)')
    .on('command:*', ([name = '']: readonly string[]) => {
      throw unknownCommand(name, program.commands);
    });
  const commands = [
    devCommand(),
    initCommand(),
    validateCommand(),
    planCommand(),
    applyCommand(),
    syncCommand(),
    runCommand(),
    approveCommand(),
    statusCommand(),
    historyCommand(),
    rollbackCommand(),
    suspendCommand(),
    resumeCommand(),
    triggerCommand(),
    adoptCommand(),
    mcpCommand(),
    serveCommand(),
    callCommand(),
    lockCommand(),
    clientsCommand(),
    proxyCommand(),
    vmcpCommand(),
    sampleCommand(),
    migrateCommand(),
    crdsCommand(),
    convertCommand(),
    explainCommand(),
    completionCommand(),
  ];
  for (const command of commands) program.addCommand(withoutColour(command).exitOverride().configureOutput(OUTPUT));
  return program;
}

/** Output of commander. Usage errors have the format of all other errors. */
const OUTPUT: OutputConfiguration = {
  outputError: (text) => writeColoured(process.stderr, withOptionAdvice(text.replace(/^error: /, 'error usage: '))),
};

function unknownCommand(name: string, commands: readonly Command[]): Failure {
  const advice = commandAdvice(name);
  const answer = advice === undefined ? '.' : `: ${advice}`;
  const names = commands.map((command) => command.name());
  const hint = advice === undefined ? didYouMean(name, names) : '';
  return new Failure('usage', `skep has no command ${name}${answer}${hint} (--help lists the commands)`);
}

/** Adds the option `--no-color`. It also sets `NO_COLOR` for Node.js itself and for child processes. */
function withoutColour(command: Command): Command {
  for (const each of command.commands) withoutColour(each);
  return command.option('--no-color', 'no colours, also on a terminal').on('option:no-color', () => {
    process.env.NO_COLOR = '1';
    delete process.env.FORCE_COLOR;
  });
}

/** Parses the arguments and runs the command. Sets the exit code of the process, and never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  // The reader of the output may end first, as in `| head`. This is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    await commandLine().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = exitCodeOf(error, argv);
  }
}

function exitCodeOf(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof Failure) {
    writeColoured(process.stderr, `${SELF_TELLING.has(error.code) ? '' : `error ${error.code}: `}${error.message}\n`);
    const advice = devAdvice(error.code, argv);
    if (advice !== undefined) process.stderr.write(`${advice}\n`);
    return EXIT_BY_CODE[error.code] ?? 1;
  }
  // Any other error is a bug, so its stack is printed.
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return 1;
}

/** Codes of Failures whose message is a list of problems. Each problem in the list has its own place and code. */
const SELF_TELLING: ReadonlySet<string> = new Set(['config-invalid', 'policies-invalid']);

const EXIT_BY_CODE: Readonly<Record<string, number>> = {
  locked: 6,
  'plan-required': 5,
  'config-invalid': USAGE,
  'policies-invalid': USAGE,
  usage: USAGE,
  'call-arguments': USAGE,
  'plan-invalid': USAGE,
  'plan-version': USAGE,
  'snapshot-invalid': USAGE,
  'snapshot-version': USAGE,
};
