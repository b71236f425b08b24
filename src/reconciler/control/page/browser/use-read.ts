// Reads something from the reconciler for a view, and again whenever one of its dependencies changes.

import { useEffect, useState } from 'preact/hooks';
import type { Answer } from './api.ts';

/** Returns undefined until the first answer has come. An answer to an earlier read is dropped. */
export function useRead<T>(read: () => Promise<Answer<T>>, dependencies: readonly unknown[]): Answer<T> | undefined {
  const [answer, setAnswer] = useState<Answer<T>>();
  useEffect(() => {
    let isCurrent = true;
    void read().then((next) => isCurrent && setAnswer(next));
    return () => {
      isCurrent = false;
    };
  }, dependencies);
  return answer;
}
