// The sections of the bench by name; the modules of one are loaded only where it runs.

import type { Report } from './table.ts';

/** What `npm run bench` measures. */
export const SECTIONS = ['fleet', 'git', 'load', 'validate', 'catalogue', 'registry', 'start'] as const;

/** Measured only where they are asked for: they take minutes. The first three mean most on a real API server. */
export const LARGE_SECTIONS = [
  'resources',
  'children',
  'operator',
  'console',
  'contents',
  'tenancy',
  'proxy',
  'lock',
  'limits',
  'vmcp',
] as const;

export type SectionName = (typeof SECTIONS)[number] | (typeof LARGE_SECTIONS)[number];

export interface Place {
  /** Empty, and removed afterwards. */
  readonly folder: string;
  /** The compiled `skep.js` of this tree. */
  readonly program: string;
}

export function isSection(name: string): name is SectionName {
  return [...SECTIONS, ...LARGE_SECTIONS].some((each) => each === name);
}

/** Throws where something is broken: an answer is wrong, a run writes that should not. Never because it is slow. */
export async function runSection(name: SectionName, place: Place): Promise<Report> {
  switch (name) {
    case 'fleet':
      return (await import('./fleet.ts')).benchFleet(place);
    case 'git':
      return (await import('./git.ts')).benchGit(place);
    case 'load':
      return (await import('./load.ts')).benchLoad();
    case 'validate':
      return (await import('./validate.ts')).benchValidate(place);
    case 'catalogue':
      return (await import('./catalogue.ts')).benchCatalogue(place);
    case 'registry':
      return (await import('./registry/section.ts')).benchRegistry(place);
    case 'resources':
      return (await import('./large.ts')).benchResources(place);
    case 'children':
      return (await import('./large.ts')).benchChildren(place);
    case 'operator':
      return (await import('./operator.ts')).benchOperator(place);
    case 'console':
      return (await import('./console/section.ts')).benchConsole(place);
    case 'contents':
      return (await import('./contents.ts')).benchContents(place);
    case 'tenancy':
      return (await import('./tenancy/section.ts')).benchTenancy(place);
    case 'proxy':
      return (await import('./proxy/section.ts')).benchProxy(place);
    case 'lock':
      return (await import('./lock/section.ts')).benchLock(place);
    case 'limits':
      return (await import('./limits/section.ts')).benchLimits(place);
    case 'vmcp':
      return (await import('./vmcp/section.ts')).benchVirtual(place);
    case 'start':
      return (await import('./start.ts')).benchStart(place);
  }
}
