// `skep clients`: prints the list of allowed servers for an MCP client, from a registry. It can also compare a file
// with that list.

import { Command, Option } from 'commander';
import type { OutboundResponse } from '#adapters/http/outbound.ts';
import { LISTED_CLIENTS } from '#contracts/registry/listed-clients.ts';
import { Failure } from '#std/failure.ts';
import { isObject, jsonEquals, parseJson } from '#std/json.ts';

interface Options {
  readonly format?: string;
  readonly check?: string;
  readonly tokenFile?: string;
}

const EXAMPLES = `
Examples:
  skep clients https://registry.example.com/fleet --format vscode
  skep clients https://registry.example.com/fleet --format claude-code > managed-settings.json
  skep clients https://registry.example.com/fleet --format copilot --check managed-settings.json`;

/** Exit code if the list in the file differs from the list of the registry. */
const DIFFERS = 2;

export function clientsCommand(): Command {
  return new Command('clients')
    .description('Print the list of allowed servers for an MCP client, from the entries of a registry.')
    .argument('<url>', 'URL of a registry, with its name')
    .addOption(new Option('--format <client>', 'client (required)').choices(LISTED_CLIENTS))
    .option('--check <file>', 'print nothing; exit code 2 if the file has another list')
    .option('--token-file <file>', 'file with a token for the registry')
    .addHelpText('after', EXAMPLES)
    .action(printList);
}

async function printList(url: string, { format, check, tokenFile }: Options): Promise<void> {
  if (format === undefined) {
    throw new Failure('usage', `name the client of the list: --format ${LISTED_CLIENTS.join('|')}`);
  }
  const text = await fetchList(url, format, tokenFile);
  if (check === undefined) {
    process.stdout.write(text);
    return;
  }
  const { settingsText } = await import('#hosts/config/settings-file.ts');
  const written = settingsText(check);
  if (written === undefined) throw new Failure('usage', `there is no file ${check}`);
  if (jsonEquals(parseJson(written), parseJson(text))) return;
  process.stderr.write(`${check} is not the list of ${url}: write it again, and review the difference\n`);
  process.exitCode = DIFFERS;
}

async function fetchList(registry: string, format: string, tokenFile: string | undefined): Promise<string> {
  if (!URL.canParse(registry)) {
    throw new Failure('usage', `${registry} is not a URL, such as https://registry.example.com/fleet`);
  }
  const [{ createOutbound }, { egressFrom }, { VERSION }, { readSecretFile: secretsFrom }] = await Promise.all([
    import('#adapters/http/outbound.ts'),
    import('#hosts/egress.ts'),
    import('#hosts/version.ts'),
    import('#hosts/config/secret-file.ts'),
  ]);
  const [token] = tokenFile === undefined ? [] : await secretsFrom(tokenFile);
  const outbound = createOutbound({ allowPrivate: [], egress: egressFrom(process.env), version: VERSION });
  const url = `${registry.replace(/\/+$/, '')}/clients/${format}.json`;
  const headers = { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  try {
    // The user has named this URL, so a private address is allowed.
    return listText(url, await outbound.request({ url, method: 'GET', headers, allowPrivate: true }));
  } finally {
    await outbound.close();
  }
}

function listText(url: string, { status, body }: OutboundResponse): string {
  const text = Buffer.from(body).toString('utf8');
  if (status === 200) return text;
  const answer = parseJson(text);
  const reason = isObject(answer) && typeof answer.error === 'string' ? `: ${answer.error}` : '';
  const advice = status === 401 ? '. Name a file with a token by --token-file' : '';
  throw new Failure('registry-list-refused', `${url} was answered with ${status}${reason}${advice}`);
}
