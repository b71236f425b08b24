// Passes the session of the reader to the buttons of actions.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api } from './api.ts';
import type { Session } from './session.ts';

export interface Acting {
  readonly api: Api;
  readonly session: Session;
  /** Reads again what waits, after an action. */
  readonly reload: () => void;
}

export const ActingContext = createContext<Acting | undefined>(undefined);

/** Returns undefined before the session is known. */
export function useActing(): Acting | undefined {
  return useContext(ActingContext);
}
