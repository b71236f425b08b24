// Defines the document of a virtual server about its parts, as gateway/virtual-server/overview.ts writes it.

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'skills';

export interface Backend {
  readonly name: string;
  readonly url: string;
  readonly status: string;
  readonly transport: string;
  readonly auth_type: string;
  readonly message?: string;
  readonly last_check?: string;
  readonly circuit_state?: string;
  readonly consecutive_failures: number;
  readonly per_caller?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Absent: the virtual server itself has the item. */
interface OfferPlace {
  readonly backend?: string;
  readonly own?: string;
}

export interface Offered extends OfferPlace {
  readonly list: ListName;
  readonly name: string;
  readonly advertised: boolean;
}

export interface Conflict {
  readonly list: ListName;
  readonly name: string;
  /** Absent: no item has the name. */
  readonly given_to?: OfferPlace;
  readonly others: readonly OfferPlace[];
}

export interface Step {
  readonly id: string;
  readonly type: string;
  readonly tool?: string;
  readonly missing?: boolean;
  readonly depends_on: readonly string[];
  readonly conditional: boolean;
}

export interface Workflow {
  readonly name: string;
  readonly description?: string;
  readonly shown: boolean;
  readonly steps: readonly Step[];
}

export interface WorkflowRun {
  readonly run: string;
  readonly workflow: string;
  readonly ended: string;
  readonly duration_ms: number;
  readonly result: string;
  readonly steps: readonly { readonly id: string; readonly result: string; readonly retries: number }[];
}

export interface VirtualServerDocument {
  readonly backends: readonly Backend[];
  readonly conflict_resolution: string;
  readonly offered: readonly Offered[];
  readonly conflicts: readonly Conflict[];
  readonly workflows: readonly Workflow[];
  readonly runs: readonly WorkflowRun[];
}
