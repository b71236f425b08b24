// Calls back when an answer has ended, in any way.

import type { Answer } from './backend.ts';

/** Returns the same answer; `ended` is called after its `end` or `fail`. */
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
