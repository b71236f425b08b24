// Declares the dependencies of the reconciler's own listener, and its interface for the program that it belongs to.

import type { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import type { RunResult } from '../run/result.ts';

/** Secrets that another component keeps and may change at any time. */
export interface Secrets {
  /**
   * Returns the current secrets; each of them is valid, so that secrets can be replaced without a gap. Throws Failure
   * `secret-file-unreadable`.
   */
  values(): Promise<readonly string[]>;
}

/** Health of the program. Every reason is one sentence for a person. */
export interface Vitals {
  /** Returns why runs make no progress; undefined if runs progress, however slowly. */
  stuck(): string | undefined;
  /** Returns why clients should not rely on the program now; empty if it is ready. */
  unready(): readonly string[];
}

/** End of a run: its result, or the failure because of which it has no result. */
export type Ending = { readonly result: RunResult } | { readonly failure: Failure };

/** Receives the begin and the end of runs from the loop of runs. */
export interface RunWatcher {
  /** `reason` is `start`, `schedule`, `follow-up`, `source`, `watch`, `webhook` or `request`. */
  began(reason: string): void;
  ended(ending: Ending): void;
}

/** A read of a source. */
export interface SourceFetch {
  readonly source: string;
  readonly seconds: number;
  /** Code of the Failure; undefined if the read succeeded. */
  readonly failure?: string;
}

/**
 * Requests a run that begins after this moment. Several requests lead to one run. Returns false if a run was requested
 * already and has not begun.
 */
export type Trigger = (reason: 'webhook' | 'request') => boolean;

/** `began` and `ended` report a run. `fleet`: the state of the fleet has changed, or belongs to a newer run. */
export type FleetEvent = 'began' | 'ended' | 'fleet';

/** The fleet as the last run has observed it. */
export interface Fleet {
  /** Returns the state as JSON; equal states have equal tags. */
  state(): { readonly text: string | Buffer; readonly tag: string };
  /** Returns one resource as JSON, read now; undefined if the last run had no resource with that id. */
  resource(id: string): Promise<string | undefined>;
  /** Returns the last lines of the logs of one resource as JSON, as `resource` does. */
  logs(id: string): Promise<string | undefined>;
  /** Returns what the pods of one resource report about their traffic as JSON, as `resource` does. */
  readings(id: string): Promise<string | undefined>;
  /** Reports events until the returned function is called, and `began` at once if a run is under way. */
  follow(notify: (event: FleetEvent) => void): () => void;
}

/** The history of runs as JSON, as `skep history -o json` prints it. Both methods throw Failure. */
export interface Runs {
  list(): Promise<string>;
  /** Finds a run by its id, or by the start of its id. Also throws Failure `run-not-found`. */
  find(start: string): Promise<string>;
}

/** `viewer`: reads only. `operator`: acts, too. */
export type Role = 'viewer' | 'operator';

/** Who sends a request. */
export interface Caller {
  /** Name in records of actions. */
  readonly name: string;
  readonly role: Role;
  /** Globs of the namespaces in which an operator may act; absent: everywhere. */
  readonly namespaces?: readonly string[];
  /** `open`: the listener shows its data without a token, as in `skep dev`. */
  readonly means: 'token' | 'login' | 'open';
  /** Value that requests with the cookie must carry if they change something; only after a login. */
  readonly csrf?: string;
  /** Returns false when the login has ended; absent if it cannot end. */
  readonly holds?: () => boolean;
}

/** A person whom the provider has identified. */
export interface Person {
  /** Name in records of actions. */
  readonly name: string;
  /** Undefined if no rule gives the person a role. */
  readonly role?: Role;
  readonly namespaces?: readonly string[];
}

/** Random texts of one visit to the provider. */
export interface LoginVisit {
  readonly state: string;
  readonly nonce: string;
  /** Verifier of RFC 7636. */
  readonly verifier: string;
}

/** Login of people at a provider of OpenID Connect. */
export interface Login {
  /** URL at which people open the console, without a slash at the end. */
  readonly url: string;
  /** Host on which people log in, for display. */
  readonly host: string;
  readonly lifetimeMs: number;
  /** Returns the URL at the provider. Throws Failure. */
  begin(visit: LoginVisit): Promise<string>;
  /** Exchanges the code of the callback for the person. Throws Failure. */
  finish(visit: LoginVisit, parameters: URLSearchParams): Promise<Person>;
}

export const ACTION_NAMES = ['approve', 'suspend', 'resume', 'trigger', 'sync', 'rollback', 'follow'] as const;

/** `follow` ends a rollback: sources follow their branches again. */
export type ActionName = (typeof ACTION_NAMES)[number];

/** An action that is ready to be carried out. */
export interface PreparedAction {
  /** Namespaces of the objects that the action changes, undefined for objects of no namespace; `instance`: everything. */
  readonly concerns: 'instance' | readonly (string | undefined)[];
  /** Text for records that names the object of the action. */
  readonly about: string;
  /** Everything that a person must confirm first, as the action would do it now; absent if nothing is confirmed. */
  readonly shown?: object;
  /** Throws Failure. */
  carryOut(by: string): Promise<JsonObject>;
}

/** Actions of operators. All of them have the effects, and the limits, of the commands of the same name. */
export interface Actions {
  /** Returns what waits for a person as JSON; equal states have equal tags. */
  waiting(): { readonly text: string; readonly tag: string };
  /**
   * Prepares the action, and keeps open what it needs while `use` runs. Throws Failure `action-arguments` if the
   * arguments are wrong, `action-busy` if too many actions wait, or the Failure that keeps it from being prepared.
   */
  prepare<T>(name: ActionName, input: JsonObject, use: (action: PreparedAction) => Promise<T>): Promise<T>;
  /** Records who has done, or has been refused, what. */
  audit(entry: AuditEntry): void;
  /** Requests the run that makes the changes. */
  runNow(): void;
}

export interface AuditEntry {
  readonly action: ActionName | 'login' | 'logout';
  readonly by: string;
  readonly about: string;
  readonly result: 'done' | 'refused' | 'failed';
  /** Code of the refusal or failure. */
  readonly code?: string;
}
