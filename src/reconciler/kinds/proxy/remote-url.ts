// Finds mistakes in the URL of a remote MCP server, and in the host of the URL.

import type { Finding } from '../kind.ts';
import { placeOfUrl } from './url-places.ts';

export function remoteUrlFindings(url: string, pointer: string): readonly Finding[] {
  const fault = urlFault(url, pointer.slice(pointer.lastIndexOf('/') + 1));
  return fault === undefined ? [] : [{ code: 'remote-url-invalid', severity: 'error', pointer, message: fault }];
}

function urlFault(text: string, field: string): string | undefined {
  if (!URL.canParse(text)) return `${field} must be a complete URL, such as https://mcp.example.com/mcp`;
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '') {
    return `${field} must not contain credentials, which anyone could read here: use externalAuthConfigRef`;
  }
  return hash === '' ? undefined : `${field} must not contain a fragment, which requests do not send`;
}

interface RemotePlace {
  readonly mayBePrivate: boolean;
  readonly pointer: string;
  /** Noun for the caller in messages, such as 'virtual servers'. */
  readonly caller: string;
}

/** Decides by the text of the URL, without resolving its name. `url` must be a valid URL. */
export function remotePlaceFindings(url: string, { mayBePrivate, pointer, caller }: RemotePlace): readonly Finding[] {
  const { host, place } = placeOfUrl(url);
  const code = 'remote-url-invalid';
  if (place === 'never') {
    const message = `${host} is the node itself, a metadata service or the API server, and never a remote server`;
    return [{ code, severity: 'error', pointer, message }];
  }
  if (mayBePrivate || place !== 'private') return [];
  const message = `${host} is inside a private network: set allowPrivateEndpoint to true if ${caller} may call it`;
  return [{ code, severity: 'error', pointer, message }];
}
