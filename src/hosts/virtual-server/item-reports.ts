// Logs notices about single items in members' lists, such as items that are left out or look misleading.

import type { Logger } from 'pino';
import type { GATE_CODES } from '#gateway/gate/codes.ts';
import type { ItemNotice } from '#gateway/virtual-server/catalogue/item-notices.ts';
import type { VMCP_CODES } from '#gateway/virtual-server/codes.ts';
import type { Member } from '#gateway/virtual-server/members/member.ts';
import { setBounded } from '#std/bounded.ts';

const ITEMS_NAMED = 20;
const REPORTS_MAX = 1000;

/** Returns a function that logs each notice once, although members may show different items to each caller. */
export function reportNotices(logger: Logger): (member: Member, notices: readonly ItemNotice[]) => void {
  const reported = new Map<string, true>();
  return ({ name }, notices) => {
    for (const [what, { code, message }] of Object.entries(NOTICED)) {
      const found = notices.filter((each) => each.what === what);
      const items = found.slice(0, ITEMS_NAMED).map(({ list, name: item, why }) => ({ list, name: item, why }));
      const key = JSON.stringify([name, what, found.length, items]);
      if (found.length === 0 || reported.has(key)) continue;
      setBounded(reported, key, true, REPORTS_MAX);
      logger.warn({ code, backend: name, count: found.length, items }, message);
    }
  };
}

const NOTICED = {
  'left-out': {
    code: 'vmcp-item-unreadable',
    message: 'clients would refuse every list because of an item of a backend: it is left out',
  },
  doubtful: {
    code: 'vmcp-item-doubtful',
    message: 'an item of a backend may be meant to mislead: it is passed on unchanged',
  },
  'held-back': {
    code: 'definition-drifted',
    message: 'definitions of a backend differ from the reviewed ones: they are held back',
  },
  drifted: {
    code: 'definition-drifted',
    message: 'definitions of a backend differ from the reviewed ones: they pass',
  },
} as const satisfies Record<
  ItemNotice['what'],
  { readonly code: keyof typeof VMCP_CODES | keyof typeof GATE_CODES; readonly message: string }
>;
