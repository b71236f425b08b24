// Reads the tool definitions of a server, either from the server or from reports in the cluster.

import type { Client } from '@modelcontextprotocol/client';
import type { Offered } from '#contracts/tool-lock/compare.ts';
import { readDefinition } from '#contracts/tool-lock/digest.ts';
import { heldLock } from '#contracts/tool-lock/held.ts';
import {
  type LockReport,
  lockDigest,
  type ReportedDrift,
  readLockTexts,
  reportName,
  virtualReportName,
} from '#contracts/tool-lock/report.ts';
import { definitionName, LOCKED_LIST_NAMES, type LockedList, type ToolLock } from '#contracts/tool-lock/schema.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { podImages } from '#reconciler/run/images/pod-images.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { parseImageName } from '#std/address/image-name.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { OBJECT } from '../call/tasks.ts';
import type { LockableServer } from './servers.ts';

const METHODS = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resourceTemplates: 'resources/templates/list',
} as const satisfies Record<LockedList, string>;

const CAPABILITIES = { tools: 'tools', prompts: 'prompts', resourceTemplates: 'resources' } as const;

const METHOD_NOT_FOUND = -32601;
const PAGES_MAX = 1000;

/**
 * Reads all definitions from the server. Throws Failure `lock-definition-refused` if a lock cannot contain a
 * definition.
 */
export async function askDefinitions(client: Client): Promise<Offered> {
  const offered: Record<LockedList, readonly JsonObject[]> = { tools: [], prompts: [], resourceTemplates: [] };
  for (const list of LOCKED_LIST_NAMES) offered[list] = await askList(client, list);
  return offered;
}

async function askList(client: Client, list: LockedList): Promise<readonly JsonObject[]> {
  if (client.getServerCapabilities()?.[CAPABILITIES[list]] === undefined) return [];
  const items: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const result = await client
      .request({ method: METHODS[list], params: cursor === undefined ? {} : { cursor } }, OBJECT)
      .catch((error: unknown): JsonObject => {
        // A server with resources may not support resource templates.
        if (error instanceof Error && 'code' in error && error.code === METHOD_NOT_FOUND) return {};
        throw error;
      });
    const found = Array.isArray(result[list]) ? result[list] : [];
    items.push(...found.map((item) => checked(list, item)));
    if (typeof result.nextCursor !== 'string') return items;
    cursor = result.nextCursor;
  }
  throw new Failure('call-failed', `the list of ${list} has more than ${PAGES_MAX} pages`);
}

function checked(list: LockedList, item: unknown): JsonObject {
  const definition = readDefinition(Buffer.from(JSON.stringify(item)));
  const name = definition && definitionName(list, definition);
  if (definition !== undefined && name !== undefined) return definition;
  const shown = isObject(item) ? String(item.name).slice(0, 200) : 'an item without a name';
  const message = `a definition of ${list} cannot be locked (${shown}): it has no name, half a surrogate pair, or a number that a double cannot hold`;
  throw new Failure('lock-definition-refused', message);
}

export interface ReportReader {
  get(id: ResourceId): Promise<KubeObject | undefined>;
  list(kind: ApiResource, namespace: string): Promise<readonly KubeObject[]>;
}

/**
 * Returns the digest of the server's image, from the manifest or from the workload in the cluster. undefined if
 * neither contains a digest of this image.
 */
export async function readDigest(
  cluster: Pick<ReportReader, 'get'>,
  server: LockableServer,
): Promise<string | undefined> {
  const { namespace, name } = server;
  const { image, digest } = server.server;
  if (image === undefined || digest !== undefined) return digest;
  const workload = await cluster.get({ apiVersion: 'apps/v1', kind: 'StatefulSet', namespace, name });
  const images = workload === undefined ? [] : (podImages(workload)?.images ?? []);
  const pinned = images.find((each) => each.startsWith(`${image}@`));
  return pinned === undefined ? undefined : parseImageName(pinned)?.digest;
}

const CONFIG_MAPS: ApiResource = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  verbs: ['list'],
};

/**
 * Returns the reports about a server. An MCPServerEntry has no proxy: the virtual servers that call it write the
 * reports.
 */
async function readReports(
  cluster: ReportReader,
  { namespace, name, server }: LockableServer,
): Promise<readonly LockReport[]> {
  if (server.kind !== 'MCPServerEntry') {
    const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: reportName(name) };
    return [readLockTexts((await cluster.get(id))?.data) ?? []].flat();
  }
  const all = await cluster.list(CONFIG_MAPS, namespace);
  return all
    .filter(({ metadata }) => metadata.name.endsWith(virtualReportName('')))
    .flatMap(({ data }) => readLockTexts(data, name) ?? [])
    .toSorted((a, b) => (a.at > b.at ? -1 : 1));
}

/**
 * Returns the definitions of the server: the definitions of the lock, changed by the reported differences. Throws
 * Failure `lock-not-reported` without a complete report about this lock. Throws Failure `lock-definition-refused` if a
 * reported definition is absent or ambiguous.
 */
export async function readOffered(cluster: ReportReader, server: LockableServer): Promise<Offered> {
  const { namespace, name, lock } = server;
  const reports = await readReports(cluster, server);
  const instead = 'name the server itself with --url';
  if (reports.length === 0) {
    const reporter =
      server.server.kind === 'MCPServerEntry'
        ? 'no virtual server has reported about'
        : 'the proxy has not reported about';
    const message = `${reporter} ${namespace}/${name}: set skep.dev/tools-lock to report or enforce and commit, or ${instead}`;
    throw new Failure('lock-not-reported', message);
  }
  const digests = (['enforce', 'report'] as const).map((mode) => lockDigest(heldLock(mode, lock)));
  const report = reports.find((each) => digests.includes(each.lock));
  if (report === undefined) {
    const message = `${namespace}/${name} is compared with another lock than ${server.file}: commit the file and wait for the sync, or ${instead}`;
    throw new Failure('lock-not-reported', message);
  }
  if (report.drifts.length === 0 && report.omitted !== undefined) {
    const message = `${namespace}/${name} has definitions whose names are too long for the report: ${instead}`;
    throw new Failure('lock-not-reported', message);
  }
  return withDrifts(lock, report.drifts, server);
}

function withDrifts(
  lock: ToolLock | undefined,
  drifts: readonly ReportedDrift[],
  { name: server }: LockableServer,
): Offered {
  const offered: Record<LockedList, readonly JsonObject[]> = { tools: [], prompts: [], resourceTemplates: [] };
  for (const list of LOCKED_LIST_NAMES) {
    const definitions = new Map((lock?.[list] ?? []).map((each) => [definitionName(list, each) ?? '', each]));
    for (const drift of drifts.filter((each) => each.list === list)) {
      if (drift.what === 'missing') definitions.delete(drift.name);
      else definitions.set(drift.name, reportedDefinition(drift, server));
    }
    offered[list] = [...definitions.values()];
  }
  return offered;
}

function reportedDefinition({ list, name, definition }: ReportedDrift, server: string): JsonObject {
  const read = definition === undefined ? undefined : readDefinition(Buffer.from(definition));
  if (read !== undefined) return read;
  const why =
    definition === undefined ? 'its text was too large for the report' : 'two readers could read it differently';
  throw new Failure('lock-definition-refused', `"${name}" of the ${list} of ${server} cannot be locked: ${why}`);
}
