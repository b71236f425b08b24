// Defines the session of the reader, and says why a reader may not act.

/** `GET /fleet/session`. */
export interface Session {
  readonly role: 'viewer' | 'operator';
  /** True if the reader may act at all. */
  readonly acts: boolean;
  readonly name?: string;
  readonly means?: 'token' | 'login' | 'open';
  /** Globs of the namespaces in which the reader may act; absent: everywhere. */
  readonly namespaces?: readonly string[];
  readonly csrf?: string;
}

/** Returns why the reader may not act; undefined if the reader may. `everywhere`: the action concerns the instance. */
export function whyNot({ acts, means, namespaces, name }: Session, everywhere: boolean): string | undefined {
  if (!acts && means === 'open') return 'You may look. To act, enter the token of this start of skep dev.';
  if (!acts && means === 'login')
    return `You are logged in as ${name ?? ''} with the role viewer. To act you need the role operator, by a rule of http.login.roles.`;
  if (!acts)
    return 'This token may look only. To act you need a token of http.operatorTokenFile, or a login as operator.';
  if (everywhere && namespaces !== undefined)
    return `This concerns the whole instance, and you may act in ${namespaces.join(', ')}.`;
  return undefined;
}
