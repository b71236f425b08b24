// Declares the used parts of the package `oidc-provider`, which has no types.

declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export interface Interaction {
    readonly uid: string;
    readonly prompt: { readonly name: string };
    readonly params: Readonly<Record<string, unknown>>;
    readonly session?: { readonly accountId?: string };
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    /** Returns the id of the grant. */
    save(): Promise<string>;
  }

  export interface OpenProvider {
    readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant;
    readonly Client: {
      find(id: string): Promise<{ readonly clientName?: string } | undefined>;
      readonly prototype: { redirectUriAllowed: (this: { readonly clientId: string }, uri: string) => boolean };
    };
    callback(): RequestListener;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }

  export const Provider: new (issuer: string, configuration: object) => OpenProvider;
}
