// The sentences of the console about objects that were not compared: nothing that was not read counts as equal.

import { expect, test } from 'vitest';
import { doubtsAbout } from '#reconciler/control/page/browser/resource/doubts.ts';

test.each([
  { reason: 'all objects were compared', uncertain: 0, omitted: 0, doubts: [] },
  { reason: 'a dry run is needed', uncertain: 2, omitted: 0, doubts: [/^Only a dry run could tell/] },
  { reason: 'objects were not read', uncertain: 0, omitted: 3, doubts: [/^3 more of its objects were not read/] },
  { reason: 'both', uncertain: 1, omitted: 1, doubts: [/dry run/, /not read/] },
])('$reason', ({ uncertain, omitted, doubts }) => {
  expect(doubtsAbout({ uncertain, omitted })).toEqual(doubts.map((each) => expect.stringMatching(each)));
});
