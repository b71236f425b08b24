// Starts a token service on loopback that handles AssumeRoleWithWebIdentity as AWS STS does, and a server that accepts
// only requests signed with keys of this service.

import { createHash } from 'node:crypto';
import { type CryptoKey, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type Endpoint, type Respond, startEndpoint } from './endpoint.ts';
import { signatureProblem, type WireRequest } from './sigv4-verifier.ts';
import { START_MS } from './world.ts';

const NAMESPACE = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"';

export interface Session {
  readonly secret: string;
  readonly sessionToken: string;
  readonly role: string;
  readonly name: string;
  readonly subject: string;
}

export interface TokenService {
  readonly endpoint: Endpoint;
  /** Sessions by access key id. */
  readonly sessions: ReadonlyMap<string, Session>;
  /** Makes the service issue keys again, after a test has set another response. */
  issueKeys(lastSeconds?: number): void;
}

export async function startTokenService(
  publicKey: CryptoKey | JWTVerifyGetKey,
  now: () => number = () => START_MS,
): Promise<TokenService> {
  const keyFor: JWTVerifyGetKey = (...asked) => (typeof publicKey === 'function' ? publicKey(...asked) : publicKey);
  const sessions = new Map<string, Session>();

  function issuing(lastSeconds: number): Respond {
    return async ({ method, form, headers }, response) => {
      const names = [...form.keys()].toSorted().join(' ');
      if (
        method !== 'POST' ||
        headers.authorization !== undefined ||
        names !== 'Action DurationSeconds RoleArn RoleSessionName Version WebIdentityToken' ||
        form.get('Action') !== 'AssumeRoleWithWebIdentity' ||
        form.get('Version') !== '2011-06-15'
      ) {
        return sendError(response, 400, 'ValidationError', `not a request for a role: ${names}`);
      }
      const token = form.get('WebIdentityToken') ?? '';
      const { payload } = await jwtVerify(token, keyFor, { currentDate: new Date(now()) });
      const [role, name] = [form.get('RoleArn') ?? '', form.get('RoleSessionName') ?? ''];
      const id = `ASIA${digest(`${role} ${name} ${token}`).slice(0, 16).toUpperCase()}`;
      const session = {
        secret: digest(`secret ${id}`),
        sessionToken: `session/${digest(id)}+=`,
        role,
        name,
        subject: String(payload.sub),
      };
      sessions.set(id, session);
      response.writeHead(200, { 'content-type': 'text/xml' }).end(answer(id, session, now() + lastSeconds * 1000));
    };
  }

  const endpoint = await startEndpoint(issuing(3600));
  return { endpoint, sessions, issueKeys: (lastSeconds = 3600) => endpoint.respond(issuing(lastSeconds)) };
}

function answer(id: string, { secret, sessionToken, role, name }: Session, untilMs: number): string {
  const expiration = new Date(untilMs).toISOString().replace(/\.\d+/, '');
  return `<AssumeRoleWithWebIdentityResponse ${NAMESPACE}>
  <AssumeRoleWithWebIdentityResult>
    <Audience>client</Audience>
    <AssumedRoleUser>
      <AssumedRoleId>AROA1EXAMPLE:${name}</AssumedRoleId>
      <Arn>${role}/${name}</Arn>
    </AssumedRoleUser>
    <Provider>arn:aws:iam::123456789012:oidc-provider/issuer.example.com</Provider>
    <Credentials>
      <AccessKeyId>${id}</AccessKeyId>
      <SecretAccessKey>${secret}</SecretAccessKey>
      <SessionToken>${sessionToken}</SessionToken>
      <Expiration>${expiration}</Expiration>
    </Credentials>
    <SubjectFromWebIdentityToken>${name}</SubjectFromWebIdentityToken>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata>
    <RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId>
  </ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>
`;
}

export function sendError(response: Parameters<Respond>[1], status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' }).end(`<?xml version="1.0" encoding="UTF-8"?>
<ErrorResponse ${NAMESPACE}>
  <Error>
    <Type>Sender</Type>
    <Code>${code}</Code>
    <Message>${message.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</Message>
  </Error>
  <RequestId>4f42af5a-c6dc-4af6-9e5d-9a5f2d3ec8e1</RequestId>
</ErrorResponse>
`);
}

/** Starts a server that responds with the session of the signature, or with 403 and the problem of the signature. */
export function startSignedServer(sessions: ReadonlyMap<string, Session>): Promise<Endpoint> {
  return startEndpoint((asked, response) => {
    const checked = checkSigned(sessions, asked);
    response
      .writeHead(typeof checked === 'string' ? 403 : 200)
      .end(typeof checked === 'string' ? checked : JSON.stringify(checked));
  });
}

/** Returns the session whose keys signed the request, or the problem of the signature. */
export function checkSigned(sessions: ReadonlyMap<string, Session>, asked: WireRequest): Session | string {
  const id = /Credential=([^/]+)\//.exec(asked.headers.authorization ?? '')?.[1] ?? '';
  const session = sessions.get(id);
  if (session === undefined || session.sessionToken !== asked.headers['x-amz-security-token']) return 'no session';
  return signatureProblem(asked, session.secret) ?? session;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
