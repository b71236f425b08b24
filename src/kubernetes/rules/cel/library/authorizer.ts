// Declares the functions of the API server's authorizer for expressions of policies. Only the types of the results are
// known, not their values. Source: Kubernetes CEL, "Kubernetes authorizer library".

import { taggedType } from '../tagged.ts';
import { refuseUnevaluable } from '../unevaluable.ts';
import type { Library } from './library.ts';

const PREFIX = 'kubernetes.authorization';
export const AUTHORIZER = `${PREFIX}.Authorizer`;
const RESOURCE = `${PREFIX}.ResourceCheck`;
const GROUP = `${PREFIX}.GroupCheck`;
const PATH = `${PREFIX}.PathCheck`;
const DECISION = `${PREFIX}.Decision`;

const ResourceCheck = taggedType<undefined>();
const GroupCheck = taggedType<undefined>();
const PathCheck = taggedType<undefined>();
const Decision = taggedType<undefined>();
const PlainAuthorizer = taggedType<undefined>();

const resource = new ResourceCheck(undefined);

/** Value of the CEL variable `authorizer`. */
export const authorizer = Object.assign(new PlainAuthorizer(undefined), { requestResource: resource });

/** Registered separately from the other types, because this type has a field. */
export const AUTHORIZER_TYPE = { ctor: PlainAuthorizer, fields: { requestResource: RESOURCE } };

export const AUTHORIZER_LIBRARY: Library = {
  types: { [RESOURCE]: ResourceCheck, [GROUP]: GroupCheck, [PATH]: PathCheck, [DECISION]: Decision },
  functions: {
    [`${AUTHORIZER}.path(string): ${PATH}`]: () => new PathCheck(undefined),
    [`${AUTHORIZER}.group(string): ${GROUP}`]: () => new GroupCheck(undefined),
    [`${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`]: () => authorizer,
    [`${GROUP}.resource(string): ${RESOURCE}`]: () => resource,
    ...Object.fromEntries(
      ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'].map((part) => [
        `${RESOURCE}.${part}(string): ${RESOURCE}`,
        () => resource,
      ]),
    ),
    [`${RESOURCE}.check(string): ${DECISION}`]: refuseAuthorizer,
    [`${PATH}.check(string): ${DECISION}`]: refuseAuthorizer,
    [`${DECISION}.allowed(): bool`]: refuseAuthorizer,
    [`${DECISION}.reason(): string`]: refuseAuthorizer,
    [`${DECISION}.errored(): bool`]: refuseAuthorizer,
    [`${DECISION}.error(): string`]: refuseAuthorizer,
  },
};

function refuseAuthorizer(): never {
  return refuseUnevaluable('it uses the authorizer, and only the API server knows the permissions');
}
