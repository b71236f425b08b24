// Keeps the state of the fleet after the last run, and the manifests and desired objects from which the page of a
// resource is computed. These values are in memory anyway; the snapshot of the cluster is not kept.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Failure } from '#std/failure.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { View } from '../../kinds/kind.ts';
import type { Desired } from '../desire/desire.ts';
import { openViews } from '../observe/view.ts';
import type { Prepared } from '../prepare.ts';
import type { Sourced } from '../read/sourced.ts';
import type { RunResult } from '../result.ts';
import { type FleetLook, fleetStateOf, repeatedState, unknownState, withFailure } from './fleet-state.ts';
import type { FleetState } from './format.ts';
import { offerOf } from './offer.ts';
import type { ShownOffer } from './offer-format.ts';
import type { KnownResource } from './resource-detail.ts';
import { NOTHING_WAITS, waitingOf } from './waiting.ts';
import type { WaitingState } from './waiting-format.ts';

export interface FleetWatch {
  /** Stores the observed state and the plan of a run until the run ends. */
  looked(prepared: Prepared): void;
  ended(result: RunResult): void;
  failed(failure: Failure, run: { readonly id: string; readonly at: string }): void;
  state(): FleetState;
  /** Returns what waits for a person after the last run that did not fail. */
  waiting(): WaitingState;
  /** Returns the resource with this entry id; undefined if the last run had no such resource. */
  find(id: string): KnownResource | undefined;
}

type LastRun = Pick<Prepared, 'resolved' | 'desires'> & {
  readonly result: RunResult;
  /** Opened when a resource is first looked at: most states are never opened. */
  readonly index: () => Index;
};

interface Index {
  /** Declared objects of a namespace. */
  readonly views: (namespace: string) => View;
  readonly byEntry: ReadonlyMap<string, Sourced>;
  /** Desired objects by the key of their owner, or by their own key if they have no owner. */
  readonly byOwner: ReadonlyMap<string, readonly Desired[]>;
}

export function openFleetWatch(look: FleetLook): FleetWatch {
  let state: FleetState = { version: 1, instance: look.instance, counts: {}, entries: [] };
  /** State after the last run that did not fail. */
  let observed: FleetState | undefined;
  let seen: Prepared | undefined;
  let kept: LastRun | undefined;
  let waiting = NOTHING_WAITS;

  function before(): FleetState | undefined {
    return state.run === undefined ? undefined : state;
  }

  return {
    looked(prepared) {
      seen = prepared;
    },
    ended(result) {
      waiting = waitingOf(result);
      if (seen !== undefined) {
        observed = fleetStateOf(look, seen, result, before());
        kept = indexedRun(look, seen, result);
        seen = undefined;
      } else if (observed !== undefined) {
        observed = repeatedState(observed, result, before());
      }
      state = observed ?? state;
    },
    failed({ code, message }, run) {
      seen = undefined;
      const isEnded = state.run?.id === run.id;
      state = isEnded ? withFailure(state, { code, message }) : unknownState(look, { ...run, code, message }, before());
    },
    state: () => state,
    waiting: () => waiting,
    find: (id) => kept && findResource(kept, id),
  };
}

function indexedRun({ apiGroup }: FleetLook, { resolved, desires, locks }: Prepared, result: RunResult): LastRun {
  let index: Index | undefined;
  const open = (): Index => {
    const loaded = resolved.standings.map((standing) => standing.loaded);
    return {
      views: openViews({ apiGroup, layers: [loaded.map(({ defaulted, object }) => defaulted ?? object)], locks }),
      byEntry: new Map(loaded.map((each) => [formatId(each.id), each])),
      byOwner: Map.groupBy(desires.objects, ({ key, owner }) => (owner === undefined ? key : keyOf(owner))),
    };
  };
  return {
    ...{ resolved, desires, result },
    index() {
      index ??= open();
      return index;
    },
  };
}

function findResource(kept: LastRun, entryId: string): KnownResource | undefined {
  const { result } = kept;
  const { byEntry, byOwner } = kept.index();
  const loaded = byEntry.get(entryId);
  const id = loaded?.id ?? result.plan.held.find(({ resource }) => formatId(resource) === entryId)?.resource;
  if (id === undefined) return undefined;
  const key = keyOf(id);
  const isIts = (one: ResourceId | undefined) => one !== undefined && keyOf(one) === key;
  const desired = byOwner.get(key) ?? [];
  const offer = loaded && offerIn(kept, loaded, desired);
  return {
    id,
    ...(loaded && { loaded }),
    ...(offer && { offer }),
    desired,
    problems: result.problems.filter(({ resource }) => isIts(resource)),
    outcomes: result.outcomes.filter(({ resource, owner }) => isIts(resource) || isIts(owner)),
  };
}

function offerIn(kept: LastRun, loaded: Sourced, desired: readonly Desired[]): ShownOffer | undefined {
  if (loaded.kind === undefined) return undefined;
  const { namespace = '' } = loaded.id;
  const { views, byEntry } = kept.index();
  const declared = (kind: string, name: string) => byEntry.get(formatId({ ...loaded.id, kind, name }));
  return offerOf({ loaded, desired, view: views(namespace), declared });
}
