// Defines what a server offers to whom, as the console shows it.

export interface OfferedTool {
  readonly name: string;
  /** Member of the virtual server that has the tool. */
  readonly member?: string;
  /** Name of the tool at its server, if it differs. */
  readonly own?: string;
}

export interface ShownOffer {
  /** URL inside the cluster. */
  readonly url: string;
  readonly transport: string;
  readonly access:
    | { readonly type: 'anonymous' }
    | { readonly type: 'oidc'; readonly issuer: string; readonly audience?: string; readonly account?: string }
    /** The settings cannot be read. */
    | { readonly type: 'unknown' };
  readonly tools: readonly OfferedTool[];
  /** Servers whose list of tools Git does not say: there is no lock. Empty text: the server itself. */
  readonly unlisted: readonly string[];
  /** Names that several members have. */
  readonly clashes: readonly string[];
  /** True if clients see `find_tool` and `call_tool` in place of the tools. */
  readonly optimizer: boolean;
  /** Cedar policies that decide about each call; absent if callers may call everything. */
  readonly policies?: readonly string[];
  /** Reason if there are policies, and Git does not have their text. */
  readonly policiesUnread?: string;
}
