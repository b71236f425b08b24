// Renders the state of a fleet, and parts of one resource of the fleet, as JSON, version 1.

import { formatId, type ResourceId } from '#std/problem.ts';
import { yamlText } from '#std/yaml/package.ts';
import type { LiveDetail } from '../run/fleet-state/detail-format.ts';
import type { FleetState } from '../run/fleet-state/format.ts';
import type { Logs, Traffic } from '../run/fleet-state/pods/format.ts';
import type { Readings } from '../run/fleet-state/pods/readings.ts';
import type { KnownResource } from '../run/fleet-state/resource-detail.ts';
import type { RecentAction, WaitingState } from '../run/fleet-state/waiting-format.ts';
import { visible } from './visible.ts';

export function jsonOfFleet(state: FleetState): string {
  return `${visible(JSON.stringify(state))}\n`;
}

/** Renders the waiting state. `actions` are sorted newest first. */
export function jsonOfWaiting(state: WaitingState, actions: readonly RecentAction[]): string {
  return `${visible(JSON.stringify({ ...state, actions }))}\n`;
}

/** Facts about a resource in addition to the facts from the last run. */
export interface ResourceContext {
  /** Manifest. Its values are masked if they may be secret. */
  readonly manifest?: object;
  readonly commit?: string;
  /** URL of the commit's web page; absent if the repository has none. */
  readonly commitUrl?: string;
  /** URL of the line of the manifest at the commit. */
  readonly fileUrl?: string;
  /** Live part of the resource. If the live part could not be read, `unread` says why. */
  readonly live?: LiveDetail;
  readonly unread?: string;
}

export function jsonOfResource(
  { id, loaded, problems, outcomes, offer }: KnownResource,
  context: ResourceContext,
): string {
  const { manifest, commit, commitUrl, fileUrl, live, unread } = context;
  const { file, line } = loaded?.place('') ?? {};
  const shown = {
    version: 1,
    resource: formatId(id),
    apiVersion: id.apiVersion,
    source: loaded?.source,
    commit,
    commitUrl,
    file,
    line,
    fileUrl,
    manifest: manifest && yamlText(manifest),
    problems: problems.map(({ code, severity, message, place, pointer }) => ({
      code,
      severity,
      message,
      ...place,
      pointer,
    })),
    changes: outcomes.map(({ action, resource, error }) => ({ action, resource: formatId(resource), error })),
    conditions: live?.conditions ?? [],
    objects: live?.objects ?? [],
    omitted: live?.omitted ?? 0,
    events: live?.events ?? [],
    eventsUnread: live?.eventsUnread,
    unread,
    offer,
  };
  return `${visible(JSON.stringify(shown))}\n`;
}

/** Why something was not read, in place of it. */
interface Unread {
  readonly unread: string;
}

export function jsonOfLogs(id: ResourceId, logs: Logs | Unread): string {
  return jsonAbout(id, 'unread' in logs ? { logs: [], omitted: 0, ...logs } : logs);
}

/**
 * Readings of metrics, with `traffic` instead of the samples from which it was computed. It is absent if no pod has
 * metrics.
 */
export type ShownReadings = Omit<Readings, 'samples'> & { readonly traffic?: Traffic };

export function jsonOfReadings(id: ResourceId, readings: ShownReadings | Unread): string {
  const { unread, ...read } = readings;
  return jsonAbout(id, typeof unread === 'string' ? { pods: [], unread } : { pods: unread, ...read });
}

function jsonAbout(id: ResourceId, facts: object): string {
  return `${visible(JSON.stringify({ version: 1, resource: formatId(id), ...facts }))}\n`;
}
