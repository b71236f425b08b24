// Tells whether the tools of a server are locked, by its annotation and its lock, and finds faults of the two.

import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import { lockDigest, readLockReport, reportName } from '#contracts/tool-lock/report.ts';
import { TOOL_LOCK, TOOLS_LOCK_ANNOTATION, type ToolLock } from '#contracts/tool-lock/schema.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { oneOf } from './annotations.ts';
import type { conditionsOf } from './conditions.ts';
import type { Finding, ObjectName, Reference, View } from './kind.ts';

export const TOOLS_LOCK_SETTING = {
  name: TOOLS_LOCK_ANNOTATION,
  description:
    'Whether the tools of the server are held to its ToolLock, an object next to its manifest that skep lock writes. enforce: clients do not get a tool that is new or differs from the lock, and cannot call it. report: it passes, and is reported.',
  ...oneOf(['enforce', 'report', 'off'], 'off'),
};

const POINTER = '/metadata/annotations/skep.dev~1tools-lock';

type Server = Pick<KubeObject, 'kind' | 'metadata'>;

function modeOf({ metadata }: Server): 'enforce' | 'report' | undefined {
  const mode = TOOLS_LOCK_SETTING.read(metadata.annotations?.[TOOLS_LOCK_SETTING.name] ?? '');
  return mode === 'off' ? undefined : mode;
}

/** The lock that is named after the server, if it is one of a server of this kind. */
export function lockOf({ kind, metadata }: Server, view: View): ToolLock | undefined {
  const spec = view.find(TOOL_LOCK.kind, metadata.name)?.spec;
  if (!isObject(spec) || !isObject(spec.server) || spec.server.kind !== kind) return undefined;
  const checked: unknown = spec;
  return checked as ToolLock;
}

/** The ConfigMap in which the proxy reports differences; undefined if nothing is locked. */
export function reportConfigMap(server: Server): string | undefined {
  return modeOf(server) === undefined ? undefined : reportName(server.metadata.name);
}

/** Rights of the proxy in the cluster: it may write into that ConfigMap, which the reconciler creates. */
export function reportRights(server: Server): JsonObject[] {
  const name = reportConfigMap(server);
  if (name === undefined) return [];
  return [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'patch'] }];
}

/** The reconciler reads its content. */
export function reportNames(server: Server): readonly ObjectName[] {
  const name = reportConfigMap(server);
  return name === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name }];
}

const NAMES_SHOWN = 20;
/** A message of a condition has 32,768 characters, and the server chooses its names. */
const NAME_SHOWN = 200;

/** Whether the server offers the reviewed definitions, as its proxy has reported. */
export function toolsLockCondition(server: Server, view: View): Parameters<typeof conditionsOf>[1] {
  const mode = modeOf(server);
  if (mode === undefined) return [];
  const type = 'ToolsLocked';
  const report = readLockReport(view.find('ConfigMap', reportName(server.metadata.name))?.data);
  if (report?.lock !== lockDigest(heldLock(mode, lockOf(server, view)))) {
    const message = 'the proxy has not reported yet what the server offers under the lock as it is now';
    return [{ type, status: 'Unknown', reason: 'DefinitionsNotRead', message }];
  }
  if (report.drifts.length === 0) {
    return [{ type, status: 'True', reason: 'DefinitionsReviewed', message: 'the server offers what was reviewed' }];
  }
  const shown = report.drifts
    .slice(0, NAMES_SHOWN)
    .map(({ list, name, what }) => `${WORDS[list]} ${name.slice(0, NAME_SHOWN)} (${what})`);
  const more = report.drifts.length > NAMES_SHOWN ? `, and ${report.drifts.length - NAMES_SHOWN} more` : '';
  const [reason, fate] =
    mode === 'enforce'
      ? ['DefinitionsHeldBack', 'held back']
      : ['DefinitionsDrifted', 'passed on although they differ'];
  const message = `definitions that are not as they were reviewed are ${fate}: ${shown.join(', ')}${more}. See skep lock --diff.`;
  return [{ type, status: 'False', reason, message }];
}

const WORDS = { tools: 'tool', prompts: 'prompt', resourceTemplates: 'resource template' } as const;

/** Undefined if the tools are not locked. A server without the lock that it needs is refused, and nothing is rendered for it. */
export function toolsLock(server: Server, view: View): HeldLock | undefined {
  const mode = modeOf(server);
  return mode === undefined ? undefined : heldLock(mode, lockOf(server, view));
}

/** Without a lock that can be read, the server stays as it is. */
export function toolsLockReferences(server: Server): readonly Reference[] {
  if (modeOf(server) === undefined) return [];
  return [{ pointer: POINTER, kind: TOOL_LOCK.kind, name: server.metadata.name, optional: 'allowed' }];
}

export function toolsLockFindings(server: Server, view: View): readonly Finding[] {
  const fault = toolsLockFault(server, view);
  return fault === undefined ? [] : [{ severity: 'error', pointer: POINTER, ...fault }];
}

/** Why the server cannot be called as its annotation says. */
export function toolsLockFault(server: Server, view: View): Pick<Finding, 'code' | 'message'> | undefined {
  const mode = modeOf(server);
  if (mode !== 'enforce' || lockOf(server, view) !== undefined) return undefined;
  const { kind, metadata } = server;
  const message = `${kind} ${metadata.name} has no ToolLock that can be used, and its tools are to be held to one: write it with skep lock, or set the annotation to report`;
  return { code: 'lock-missing', message };
}
