// Lists the refusals and errors of the reconciler's own listener, by stable code.

export const CONTROL_CODES = {
  'control-closed':
    'The request needs a token or a login, and skep.yaml names neither `http.tokenFile` nor `http.login`, so it is always refused. Name a file with a token in it, or configure the login.',
  'control-unauthorized':
    'The request has no token, or one that is not in `http.tokenFile` or `http.operatorTokenFile`, and no cookie of a login that is still valid. Send the token as `Authorization: Bearer TOKEN`, or log in again.',
  'control-token-unreadable':
    'The file that `http.tokenFile`, `http.operatorTokenFile` or `http.webhookSecretFile` names cannot be read, or is empty, so no request can be admitted. The log has the reason.',
  'control-hook-closed':
    'A webhook came, and skep.yaml names no `http.webhookSecretFile`. Name a file with the secret that the Git server signs with.',
  'control-hook-unsigned':
    'A webhook has no signature. Give it a secret at the Git server: the one in `http.webhookSecretFile`.',
  'control-hook-forged':
    'A webhook is not signed with a secret of `http.webhookSecretFile`, was changed on its way, or is older than five minutes. Compare the secret at the Git server with the file, and the clocks.',
  'control-hook-unreadable':
    'The body of a webhook is not a JSON object, not even in a form. Choose `application/json` at the Git server.',
  'control-hook-rate-limited':
    'Too many webhooks of more than 64 KiB came at once. The next run on the schedule reads the sources that they were about.',
  'control-route-not-found':
    'The reconciler has nothing at this path. docs/operating.md lists the paths of its listener; the catalogue is served by `skep serve`, at another port.',
  'control-method-not-allowed':
    'The path exists but not with this method; the Allow header names the methods that it has.',
  'control-no-snapshot': 'No run has published the state yet; the first run that can read everything publishes it.',
  'control-request-invalid':
    'The request is not valid HTTP for this listener: its path, size or form. Check the client, or a proxy in between.',
  'control-run-not-found': 'The history has no run, or several, whose id starts like that; /runs lists them.',
  'control-resource-not-found':
    'The last run of this process knew no resource of this id; /fleet lists them. Before the first run has ended there is none.',
  'control-streams-exhausted':
    'Too many consoles follow the runs of this process at once. Close some, or read /fleet instead.',
  'control-history-unreadable':
    'The history of runs cannot be read now: the database or the cluster does not respond. The log has the reason.',
  'control-not-operator':
    'The caller may read and not act. Actions need a token of `http.operatorTokenFile`, or a login with the role `operator` (`http.login.roles`).',
  'control-namespace-forbidden':
    'The action concerns objects outside of the namespaces of the caller, or the whole instance. A person with the role `operator` without `namespaces` can do it.',
  'control-confirmation-missing':
    'The action shows what it would do, and has to be confirmed: send `"preview": true` first, then `"confirmed"` with the digest of the answer.',
  'control-confirmation-changed':
    'The action would now do something else than was confirmed, so nothing was done. Look at the new preview, and confirm that.',
  'control-action-refused': 'The action was not carried out. The message has the code and the reason of the failure.',
  'control-cross-site':
    'A request with the cookie of a login did not come from the console itself: its Origin, Sec-Fetch-Site or x-skep-csrf header is missing or foreign. Reload the console; if it stays, `http.login.url` is not the URL in the address bar.',
  'control-token-in-url':
    'A token was sent in a URL, which logs and histories keep. Replace the token, and send the new one as `Authorization: Bearer TOKEN`.',
  'control-login-rate-limited': 'Too many logins came from one address within a minute. Try again soon.',
  'control-login-no-role':
    'The provider has identified the person, and no rule of `http.login.roles` gives them a role. Compare the claims of the id_token with the rules.',
  'control-login-failed': 'A login failed at the provider, or the provider cannot be reached; the log has the reason.',
  'action-arguments':
    'The arguments of an action are missing, unknown, or have the wrong form; the message names them.',
  'action-busy': 'Too many actions wait for their turn: they are carried out one after the other. Try again soon.',
  'approval-of-everything':
    'The list stands for all changes of a first run, and nobody can read it as a list: compare `skep plan`, then run `skep approve HASH`.',
  'control-failed':
    'A fault of the reconciler. The log has the cause under the request id: please report it, with that record.',
} as const;

export type ControlCode = keyof typeof CONTROL_CODES;
