// Parses and formats addresses within the console. They are the fragment of the page, which browsers send nowhere.

export type Route =
  /** `query` holds the filters. */
  | { readonly view: 'fleet'; readonly as: 'list' | 'map'; readonly query: string }
  | { readonly view: 'resource'; readonly id: string }
  | { readonly view: 'runs'; readonly open?: string }
  | { readonly view: 'waiting' };

/** Parses the fragment. A browser that opens the path /runs sees the runs first. */
export function routeOf({ hash, pathname }: Pick<Location, 'hash' | 'pathname'>): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', ...rest] = path.split('/');
  const argument = decode(rest.join('/'));
  if (view === 'resource' && argument !== '') return { view, id: argument };
  if (view === 'runs') return argument === '' ? { view } : { view, open: argument };
  if (view === 'waiting') return { view };
  if (view === 'map') return { view: 'fleet', as: 'map', query };
  if (view === '' && pathname.endsWith('/runs')) return { view: 'runs' };
  return { view: 'fleet', as: 'list', query };
}

export const FLEET = '#/fleet';
export const MAP = '#/map';
export const RUNS = '#/runs';
export const WAITING = '#/waiting';

export function resourceAddress(id: string): string {
  return `#/resource/${encodeURIComponent(id)}`;
}

export function runAddress(id: string): string {
  return `#/runs/${encodeURIComponent(id)}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
