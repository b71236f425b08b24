// Decides from a server's annotation and its ToolLock whether its tools are locked, and finds faults of the annotation
// and the ToolLock.

import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import {
  type LockReport,
  lockDigest,
  type ReportedDrift,
  readLockReport,
  reportName,
  virtualReportName,
} from '#contracts/tool-lock/report.ts';
import { TOOL_LOCK, TOOLS_LOCK_ANNOTATION, type ToolLock } from '#contracts/tool-lock/schema.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { oneOf } from './annotations.ts';
import type { conditionsOf } from './conditions.ts';
import type { Finding, ObjectName, Reference, View } from './kind.ts';
import { LABEL_DOMAIN, workloadLabels } from './labels.ts';

export const TOOLS_LOCK_SETTING = {
  name: TOOLS_LOCK_ANNOTATION,
  description:
    'Whether the tools of the server are compared with its ToolLock, an object next to its manifest that skep lock writes. enforce: clients do not get a tool that is new or differs from the lock, and cannot call it. report: such a tool passes, and is reported.',
  ...oneOf(['enforce', 'report', 'off'], 'off'),
};

const POINTER = '/metadata/annotations/skep.dev~1tools-lock';

type ServerObject = Pick<KubeObject, 'kind' | 'metadata'>;

function modeOf({ metadata }: ServerObject): 'enforce' | 'report' | undefined {
  const mode = TOOLS_LOCK_SETTING.read(metadata.annotations?.[TOOLS_LOCK_SETTING.name] ?? '');
  return mode === 'off' ? undefined : mode;
}

/** Returns the ToolLock with the server's name, if the ToolLock is for the server's kind. */
export function lockOf({ kind, metadata }: ServerObject, view: View): ToolLock | undefined {
  const spec = view.find(TOOL_LOCK.kind, metadata.name)?.spec;
  if (!isObject(spec) || !isObject(spec.server) || spec.server.kind !== kind) return undefined;
  const checked: unknown = spec;
  return checked as ToolLock;
}

/** Returns the name of the ConfigMap in which the proxy reports differences; undefined if no tools are locked. */
export function reportConfigMap(server: ServerObject): string | undefined {
  return modeOf(server) === undefined ? undefined : reportName(server.metadata.name);
}

/** Returns the proxy's rights in the cluster: it may write to its report, a ConfigMap that the reconciler creates. */
export function reportRights(server: ServerObject): JsonObject[] {
  const name = reportConfigMap(server);
  return name === undefined ? [] : [reportRight(name)];
}

function reportRight(name: string): JsonObject {
  return { apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'patch'] };
}

/** Returns the report's ConfigMap, whose content the reconciler reads. */
export function reportNames(server: ServerObject): readonly ObjectName[] {
  const name = reportConfigMap(server);
  return name === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name }];
}

const NAMES_SHOWN = 20;
/**
 * Maximum number of characters of a shown name. A condition's message has at most 32,768 characters, and the server
 * chooses its definitions' names.
 */
const NAME_SHOWN = 200;

type LockCondition = Parameters<typeof conditionsOf>[1][number];

/**
 * Returns the condition if `program` has not reported. `account`: service account that the manifest names, to which
 * skep grants no right to report.
 */
function unreportedCondition(program: string, account: string | undefined, what: string): LockCondition {
  const condition = { type: 'ToolsLocked', status: 'Unknown' } as const;
  if (account === undefined) {
    const message = `${program} has not reported yet what ${what} offers under the current lock`;
    return { ...condition, reason: 'DefinitionsNotRead', message };
  }
  const message = `${program} does not report what ${what} offers: skep grants no rights to ServiceAccount ${account}, which the manifest names. Definitions that differ are in its log (definition-drifted)`;
  return { ...condition, reason: 'DefinitionsNotReported', message };
}

/**
 * Returns the condition about the reviewed definitions, from the report of the server's proxy. `account`: service
 * account that the manifest names for the proxy.
 */
export function toolsLockCondition(server: ServerObject, view: View, account?: string): readonly LockCondition[] {
  const mode = modeOf(server);
  if (mode === undefined) return [];
  if (account !== undefined) return [unreportedCondition('the proxy', account, 'the server')];
  const report = readLockReport(view.find('ConfigMap', reportName(server.metadata.name))?.data);
  if (report?.lock !== lockDigest(heldLock(mode, lockOf(server, view))))
    return [unreportedCondition('the proxy', undefined, 'the server')];
  return [
    lockedCondition(
      { drifts: report.drifts.map((drift) => ({ ...drift, mode })), omitted: omittedOf(mode, report) },
      'the server offers the reviewed definitions',
    ),
  ];
}

/** A backend. If `toolsLock` is set, the virtual server compares the backend's tools with this lock. */
interface LockedBackend {
  readonly name: string;
  readonly toolsLock?: HeldLock | undefined;
}

/**
 * Returns the condition about the reviewed definitions of these backends, from the virtual server's report. `account`:
 * service account that the manifest names for the virtual server.
 */
export function backendsLockCondition(
  { name: server, account }: { readonly name: string; readonly account?: string | undefined },
  backends: readonly LockedBackend[],
  view: View,
): readonly LockCondition[] {
  const locked = lockedBackends(backends);
  if (locked.length === 0) return [];
  const program = 'the virtual server';
  if (account !== undefined) return [unreportedCondition(program, account, namesShown(locked))];
  const data = view.find('ConfigMap', virtualReportName(server))?.data;
  const read = locked.map(({ name, toolsLock }) => {
    const report = readLockReport(data, name);
    const { mode } = toolsLock;
    if (report?.lock !== lockDigest(toolsLock)) return { backend: name, drifts: [], omitted: [], isRead: false };
    const drifts = report.drifts.map((drift) => ({ ...drift, backend: name, mode }));
    return { backend: name, drifts, omitted: omittedOf(mode, report), isRead: true };
  });
  const found = { drifts: read.flatMap(({ drifts }) => drifts), omitted: read.flatMap(({ omitted }) => omitted) };
  const unread = read.filter(({ isRead }) => !isRead).map(({ backend }) => ({ name: backend }));
  if (found.drifts.length + found.omitted.length === 0 && unread.length > 0)
    return [unreportedCondition(program, undefined, namesShown(unread))];
  return [lockedCondition(found, 'the backends that it calls itself offer the reviewed definitions')];
}

function namesShown(backends: readonly { readonly name: string }[]): string {
  return backends
    .slice(0, NAMES_SHOWN)
    .map(({ name }) => name)
    .join(', ');
}

/** Returns the backends whose tools the virtual server compares with a lock. */
function lockedBackends<Backend extends LockedBackend>(backends: readonly Backend[]) {
  return backends.flatMap((backend) => {
    const { toolsLock } = backend;
    return toolsLock === undefined ? [] : [{ ...backend, toolsLock }];
  });
}

/** Returns the virtual server's rights in the cluster: it may write to its report, a ConfigMap. */
export function backendsReportRights(name: string, backends: readonly LockedBackend[]): readonly JsonObject[] {
  return lockedBackends(backends).length === 0 ? [] : [reportRight(virtualReportName(name))];
}

/** Returns the empty ConfigMap into which the virtual server writes its report about reviewed definitions. */
export function backendsReport(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  backends: readonly LockedBackend[],
): readonly KubeObject[] {
  if (lockedBackends(backends).length === 0) return [];
  const labels = { ...workloadLabels('virtualmcpserver', name), [`${LABEL_DOMAIN}/component`]: 'tools-report' };
  return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: virtualReportName(name), namespace, labels } }];
}

interface FoundDrift extends Pick<ReportedDrift, 'list' | 'name' | 'what'> {
  readonly mode: HeldLock['mode'];
  readonly backend?: string;
}

interface FoundDrifts {
  readonly drifts: readonly FoundDrift[];
  /** Numbers of differences whose names are not in the report, by the mode of the locks. */
  readonly omitted: readonly { readonly mode: HeldLock['mode']; readonly count: number }[];
}

function omittedOf(mode: HeldLock['mode'], { omitted: count }: Pick<LockReport, 'omitted'>): FoundDrifts['omitted'] {
  return count === undefined ? [] : [{ mode, count }];
}

function lockedCondition({ drifts, omitted }: FoundDrifts, reviewed: string): LockCondition {
  const type = 'ToolsLocked';
  const all = [...drifts, ...omitted];
  if (all.length === 0) return { type, status: 'True', reason: 'DefinitionsReviewed', message: reviewed };
  const shown = drifts.slice(0, NAMES_SHOWN).map(driftWords);
  const unnamed = drifts.length - shown.length + omitted.reduce((sum, { count }) => sum + count, 0);
  const more = unnamed === 0 ? [] : [shown.length === 0 ? `${unnamed} with long names` : `and ${unnamed} more`];
  const isHeld = all.some(({ mode }) => mode === 'enforce');
  const isPassed = all.some(({ mode }) => mode === 'report');
  const fates = [...(isHeld ? ['held back'] : []), ...(isPassed ? ['passed on although they differ'] : [])];
  const reason = isHeld ? 'DefinitionsHeldBack' : 'DefinitionsDrifted';
  const message = `definitions that differ from the reviewed ones are ${fates.join(' or ')}: ${[...shown, ...more].join(', ')}. See skep lock --diff.`;
  return { type, status: 'False', reason, message };
}

function driftWords({ list, name, what, backend }: FoundDrift): string {
  const place = backend === undefined ? '' : ` of ${backend}`;
  return `${WORDS[list]} ${name.slice(0, NAME_SHOWN)}${place} (${what})`;
}

const WORDS = { tools: 'tool', prompts: 'prompt', resourceTemplates: 'resource template' } as const;

/** Returns undefined if the tools are not locked. skep renders nothing for a server whose required lock is missing. */
export function toolsLock(server: ServerObject, view: View): HeldLock | undefined {
  const mode = modeOf(server);
  return mode === undefined ? undefined : heldLock(mode, lockOf(server, view));
}

/** Returns the reference to the lock. If the lock cannot be read, the server is kept unchanged. */
export function toolsLockReferences(server: ServerObject): readonly Reference[] {
  if (modeOf(server) === undefined) return [];
  return [{ pointer: POINTER, kind: TOOL_LOCK.kind, name: server.metadata.name, optional: 'allowed' }];
}

export function toolsLockFindings(server: ServerObject, view: View): readonly Finding[] {
  const fault = toolsLockFault(server, view);
  return fault === undefined ? [] : [{ severity: 'error', pointer: POINTER, ...fault }];
}

/** Returns a fault if the annotation requires a lock and no valid lock exists. */
export function toolsLockFault(server: ServerObject, view: View): Pick<Finding, 'code' | 'message'> | undefined {
  const mode = modeOf(server);
  if (mode !== 'enforce' || lockOf(server, view) !== undefined) return undefined;
  const { kind, metadata } = server;
  const message = `${kind} ${metadata.name} has no valid ToolLock, which its annotation requires: write it with skep lock, or set the annotation to report`;
  return { code: 'lock-missing', message };
}
