// Defines the live part of one resource as the console shows it.

import type { Json } from '#std/json.ts';

interface FieldDifference {
  /** Path like a JSON pointer, but with names for items of associative lists. */
  readonly path: string;
  /** Value in the cluster; absent if the live object lacks the field. */
  readonly before?: Json;
  /** Value in Git; absent if an apply removes the field. */
  readonly after?: Json;
}

export interface DetailedPod {
  readonly name: string;
  readonly ready: boolean;
  readonly phase: string;
  readonly restarts: number;
  /** How the last restart came about, such as `OOMKilled, exit code 137`; absent if no container was restarted. */
  readonly lastEnd?: string;
  /** Reason why the pod is not ready. Empty if the pod is ready or no reason is known. */
  readonly why: string;
}

export interface DetailedObject {
  readonly id: string;
  /** `missing`: the object does not exist in the cluster. */
  readonly state: 'ready' | 'not-ready' | 'missing';
  readonly why: string;
  /** Differences between the cluster and Git. Values of Secrets and of encrypted documents are masked. */
  readonly differences: readonly FieldDifference[];
  readonly fields: readonly { readonly path: string; readonly manager: string; readonly state: string }[];
  /** Set if only a dry run could show whether the object differs. */
  readonly uncertain?: true;
  readonly pods?: readonly DetailedPod[];
}

export interface ConsoleCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

export interface ShownEvent {
  /** `Kind/name`, in the namespace of the resource. */
  readonly object: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
  readonly count: number;
  /** Time of the last occurrence in RFC 3339. */
  readonly at: string;
}

export interface LiveDetail {
  readonly conditions: readonly ConsoleCondition[];
  readonly objects: readonly DetailedObject[];
  /** Number of objects that were not read, because there are too many. */
  readonly omitted: number;
  /** Events about the resource and its objects, latest first. */
  readonly events: readonly ShownEvent[];
  /** Reason if Events were not read, or not all of them; absent if all were read. */
  readonly eventsUnread?: string;
}
