// Wraps an answer so that a callback runs at its end.

import type { Answer } from './backend.ts';

/** Returns an answer that passes everything on and calls `ended` after `end` or `fail`. */
export function answerThen(answer: Answer, ended: () => void): Answer {
  return {
    head: (status, headers) => answer.head(status, headers),
    data: (chunk) => answer.data(chunk),
    end() {
      answer.end();
      ended();
    },
    fail(fault) {
      answer.fail(fault);
      ended();
    },
  };
}
