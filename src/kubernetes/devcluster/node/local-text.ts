// Adapts the texts of a manifest to this machine: replaces paths of volumes, ports and addresses of Services.

import type { Container } from './objects.ts';
import type { Addresses } from './ports.ts';

export interface LocalText {
  /** Replaces the paths in a text. */
  paths(text: string): string;
  /** Adapts a command argument. */
  argument(text: string): Promise<string>;
  variable(name: string, value: string): Promise<string>;
  /** Adapts the content of a file. */
  file(text: string): Promise<string>;
}

/** Creates the adapter. `places` maps paths of the container to folders of this machine. */
export function localText(container: Container, places: ReadonlyMap<string, string>, addresses: Addresses): LocalText {
  const paths = pathsIn(places);
  const services = (text: string) => servicesIn(text, addresses);
  const declared = new Set((container.ports ?? []).map(({ containerPort }) => String(containerPort)));
  const portIn = (text: string) => (declared.has(text) ? String(addresses.port(Number(text))) : text);
  return {
    paths,
    argument: async (text) => {
      const [, name = '', value = text] = /^(--?[^=]+=)(.*)$/s.exec(text) ?? [];
      if (value === EVERYWHERE) return `${name}${HERE}`;
      return `${name}${await services(paths(portIn(value)))}`;
    },
    variable: async (name, value) => {
      if (/(^|_)(HOST|ADDRESS)$/.test(name) && value === EVERYWHERE) return HERE;
      return services(paths(/(^|_)PORT$/.test(name) ? portIn(value) : value));
    },
    file: (text) => services(paths(text)),
  };
}

/** Address of all interfaces of a pod. It is replaced by loopback. */
const EVERYWHERE = '0.0.0.0';
const HERE = '127.0.0.1';

function pathsIn(places: ReadonlyMap<string, string>): (text: string) => string {
  if (places.size === 0) return (text) => text;
  const any = [...places.keys()]
    .sort((a, b) => b.length - a.length)
    .map((path) => path.replaceAll(/[\\^$.*+?()[\]{}|-]/g, '\\$&'));
  // Matches a mounted path, alone or as the beginning of a longer path. One pass replaces all paths, because a
  // replacement may look like another path.
  const pattern = new RegExp(`(?<=^|["'=:,\\s])(${any.join('|')})(?=[/"':,\\s]|$)`, 'g');
  return (text) => text.replaceAll(pattern, (path) => places.get(path) ?? path);
}

const SERVICE =
  /(?<![\w.-])([a-z]+:\/\/)?([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.cluster\.local)?(?::(\d+))?(?=[/"'\s]|$)/g;

/** Replaces URLs and addresses of Services. Skips URLs with TLS, because certificates contain the original names. */
async function servicesIn(text: string, addresses: Addresses): Promise<string> {
  let local = text;
  for (const [whole, scheme = '', name = '', namespace = '', given] of text.matchAll(SERVICE)) {
    const port = given ?? (scheme === 'http://' ? '80' : undefined);
    if (scheme === 'https://' || port === undefined) continue;
    local = local.replace(whole, `${scheme}${HERE}:${await addresses.service(namespace, name, Number(port))}`);
  }
  return local;
}
