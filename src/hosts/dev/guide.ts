// Formats the guide that `skep dev` prints after its start: URLs, files and commands to try next.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { RunningServer } from '#contracts/running-servers.ts';
import { commandOf, ownCommand } from '../own-command.ts';
import type { Serving } from './serving.ts';
import type { DevWorld } from './world.ts';

const RETIRABLE = 'cluster/ops/calendar.yaml';

/** Returns the guide. Its commands work when they are copied. */
export function formatGuide(
  world: DevWorld,
  origin: string,
  { registries, token }: Pick<Serving, 'registries' | 'token'>,
  servers: readonly RunningServer[],
): string {
  const kubeconfig = relative(process.cwd(), world.kubeconfig);
  const [pages, urls] = [registries.pages(), registries.urls()];
  return [
    '',
    `cluster     ${world.clusterUrl}   kubeconfig ${kubeconfig}`,
    `repository  ${world.config.sources.map(({ repository }) => repository).join(', ')}`,
    `console     ${origin}/`,
    // The catalogue's page also lists the servers, and calls them with the token in the fragment. Browsers do not send
    // a fragment to any server.
    ...pages.map((url, index) => `catalogue   ${url}${index === 0 ? `#token=${token}` : ''}`),
    ...urls.map((url) => `registry    ${url}`),
    ...servers.map((server) => `server      ${server.url}${noteOn(server)}`),
    `token       ${token}   (for the other servers)`,
    `state       ${relative(process.cwd(), world.dir)} (delete it to start again)`,
    '',
    'Try in another terminal:',
    `  kubectl --kubeconfig ${kubeconfig} get mcpservers,deployments,statefulsets,pods -A`,
    ...callOf(world, servers),
    ...urls.slice(0, 1).map((url) => `  curl -s '${url}?limit=3'`),
    ...(world.fleetDir === undefined ? [] : [commitOf(world.fleetDir)]),
    `  ${commandOf({ config: relative(process.cwd(), world.configFile) })('status')}     (also plan, history, approve, suspend, ...)`,
    '',
    'Ctrl-C stops everything; the state stays.',
    '',
  ].join('\n');
}

function noteOn({ auth, notRunHere }: RunningServer): string {
  if (notRunHere !== undefined) return '   (does not run here)';
  return auth === 'oidc' ? '   (asks you to log in)' : '';
}

function commitOf(fleetDir: string): string {
  const fleet = relative(process.cwd(), fleetDir) || '.';
  return existsSync(join(fleetDir, RETIRABLE))
    ? `  git -C ${fleet} rm -q ${RETIRABLE} && git -C ${fleet} commit -m 'Retire calendar'`
    : `  git -C ${fleet} commit -am 'My change'     (of a file in ${fleet}/cluster, or of registry.json)`;
}

/** Returns a command that calls a tool: of the sample fleet, or of a server that needs no login. */
function callOf({ tokenFile }: DevWorld, servers: readonly RunningServer[]): readonly string[] {
  const open = servers.filter(
    ({ auth, transport, notRunHere }) =>
      auth === 'token' && transport === 'streamable-http' && notRunHere === undefined,
  );
  const sample = open.find(({ args = [] }) => args.join(' ') === 'sample holidays');
  const server = sample ?? open[0];
  if (server === undefined) return [];
  const tool = sample === undefined ? '' : ' next_holiday country=DE';
  return [`  ${ownCommand()} call ${server.url}${tool} --token-file ${relative(process.cwd(), tokenFile)}`];
}
