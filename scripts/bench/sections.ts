// The sections of the bench by name; the modules of one are loaded only where it runs.

import type { Report } from './table.ts';

export const SECTIONS = ['fleet', 'git', 'load', 'validate', 'catalogue', 'registry', 'start'] as const;

export type SectionName = (typeof SECTIONS)[number];

export interface Place {
  /** Empty, and removed afterwards. */
  readonly folder: string;
  /** The compiled `skep.js` of this tree. */
  readonly program: string;
}

export function isSection(name: string): name is SectionName {
  return SECTIONS.some((each) => each === name);
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
      return (await import('./registry.ts')).benchRegistry(place);
    case 'start':
      return (await import('./start.ts')).benchStart(place);
  }
}
