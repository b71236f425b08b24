// Selects the credentials for an image from pull secrets (`.dockerconfigjson`).

import { type ImageName, imagePlace } from '#std/address/image-name.ts';
import { isObject, parseJson } from '#std/json.ts';
import { globMatches, parseGlob } from '#std/patterns/glob.ts';

export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

/** Returns the entry with the longest matching key in all configurations, as kubelets do. */
export function credentialsFor(configurations: readonly string[], image: ImageName): RegistryCredentials | undefined {
  const place = imagePlace(image);
  const fitting = configurations.flatMap((text) => {
    const config = parseJson(text);
    const auths = isObject(config) && isObject(config.auths) ? config.auths : {};
    return Object.entries(auths).flatMap(([key, entry]) => {
      const credentials = isObject(entry) ? credentialsIn(entry) : undefined;
      const pattern = patternOf(key);
      return credentials !== undefined && fitsPlace(pattern, place) ? [{ pattern, credentials }] : [];
    });
  });
  return fitting.toSorted((one, other) => other.pattern.length - one.pattern.length)[0]?.credentials;
}

function credentialsIn({
  auth,
  username,
  password,
}: Readonly<Record<string, unknown>>): RegistryCredentials | undefined {
  if (typeof username === 'string' && typeof password === 'string') return { user: username, password };
  if (typeof auth !== 'string') return undefined;
  const text = Buffer.from(auth, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Returns the pattern of a key. Docker's own registry has the key https://index.docker.io/v1/. */
function patternOf(key: string): string {
  const plain = key.replace(/^https?:\/\//, '').replace(/\/(?:v[12]\/?)?$/, '');
  return plain.replace(/^(?:index|registry-1)\.docker\.io(?=\/|$)/, 'docker.io');
}

/** A star matches any characters within one label of the host name. A path matches repositories that begin with it. */
function fitsPlace(pattern: string, place: string): boolean {
  const [host = '', ...path] = pattern.split('/');
  const [ofImage = '', ...repository] = place.split('/');
  const [labels, others] = [host.split('.'), ofImage.split('.')];
  if (labels.length !== others.length || !path.every((part, index) => part === repository[index])) return false;
  return labels.every((label, index) => {
    const glob = parseGlob(label);
    return label === others[index] || (glob !== undefined && globMatches(glob, others[index] ?? ''));
  });
}
