// The few parts of the package `oidc-provider`, which brings no types, that the test issuer uses.

declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
