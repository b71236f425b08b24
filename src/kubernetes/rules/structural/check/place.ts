// Where in a schema a check is.

/** Where in the schema the check is, and what that forbids. */
export interface Place {
  readonly pointer: string;
  readonly level: 'root' | 'field' | 'item';
  /** Inside `apiVersion`, `kind` or `metadata` of a resource. */
  readonly inMetadata: boolean;
  /** Why defaults may not stand here. */
  readonly noDefaults?: string;
  /** The nearest part above whose entries cannot be matched with what they were after a change. */
  readonly uncorrelatable?: string;
}
