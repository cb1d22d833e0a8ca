// An account and an installation with every kind of row that the sandbox can make, and what makes a page
// unreadable.
import type { Page } from 'playwright-core';
import { data, type User } from '../support/people/dashboard.ts';
import { dataOf, type Person } from '../support/people/people.ts';
import { until } from '../support/time/until.ts';
import type { Stack } from '../support/world/stack.ts';

const FROM_THE_WALLET = ['SIM-OK', 'SIM-OUT-OF-STOCK', 'SIM-NEVER-ALLOCATE'];

/** Each ends in its own way (docs/SANDBOX.md). */
const BY_CARD = [
  'SIM-PAY-NOW',
  'SIM-PAY-DECLINE',
  'SIM-PAY-SHORT',
  'SIM-PAY-OVER',
  'SIM-PAY-OTHER-CURRENCY',
  'SIM-PAY-TWICE',
  'SIM-PAY-REVERSED',
  'SIM-PAY-DISPUTED',
  'SIM-PAY-REFUNDED',
  'SIM-PAY-REFUND-FAILS',
  'SIM-PAY-REFUND-NEEDS-ATTENTION',
  'SIM-PAY-NEVER',
];

/** What happens to an eSIM, one eSIM for each. */
const LIVES = [
  [],
  ['install'],
  ['install', 'suspend'],
  ['install', 'use-up'],
  ['install', 'delete-profile'],
  ['install', 'expire'],
];

const ENDPOINTS = '/api/webhooks/endpoints';

/** The paths of the merchant's pages that show one of them. */
export async function fillAccount(owner: User, stack: Stack): Promise<string[]> {
  const bought = new Set<string>();
  const buy = async (packageCode: string, more = {}): Promise<string> => {
    const body = { packageCode, packageType: 'BASE', paymentMethod: 'WALLET', ...more };
    const { text } = await owner.ask('POST', '/api/esim/buy', { body });
    for (const [id] of text.matchAll(/txn-[0-9a-f]{32}/g)) bought.add(`/purchases/${id}`);
    const [esimId = ''] = /esim-[0-9a-f]{32}/.exec(text) ?? [];
    if (esimId !== '') bought.add(`/esims/${esimId}`);
    return esimId;
  };
  const failing = await owner.ask('POST', ENDPOINTS, { body: { url: 'http://127.0.0.1:9/hook' } });
  for (const code of FROM_THE_WALLET) await buy(code);
  for (const code of BY_CARD) await buy(code, { paymentMethod: 'CARD' });
  await buy('SIM-OK', { paymentMethod: 'BANK_TRANSFER' });
  for (const life of LIVES) {
    const esimId = await buy('SIM-MANUAL-LIFE');
    for (const action of life)
      await owner.ask('POST', `/api/sandbox/esims/${esimId}/${action}`, { body: {} });
    if (life.length === 1) await buy('TOPUP_SIM-MANUAL-LIFE', { packageType: 'TOPUP', esimId });
  }
  await owner.ask('POST', '/api/wallet/fund', { body: { amount: 20, paymentMethod: 'BANK_TRANSFER' } });
  const rows = ['SIM-OK', 'SIM-OUT-OF-STOCK', 'SIM-NEVER-ALLOCATE'].map((packageCode, at) => ({
    reference: `Gäste-Reise ${at} ${'x'.repeat(40)}`,
    packageCode,
  }));
  const batch = await owner.ask('POST', '/api/esim/orders/batch', { body: { rows } });
  await owner.ask('POST', '/account/invitations', {
    body: { email: `a-rather-long-address-of-a-colleague.${owner.email}`, role: 'DEVELOPER' },
  });
  await owner.ask('POST', '/account/keys', {
    body: {
      companyName: 'Ada Ltd',
      websiteUrl: stack.apiUrl,
      allowedAddresses: ['127.0.0.1'],
      scopes: ['read', 'purchase'],
    },
  });
  const { id } = failing.body as unknown as { id: string };
  const messages = await until(
    () => owner.ask('GET', `/api/webhooks/messages?endpointId=${id}`),
    ({ text }) => text.includes('esim.purchased'),
    { what: 'messages' },
  );
  const [message] = data<{ items: { id: string }[] }>(messages).items;
  return [
    ...bought,
    `/batches/${data<{ batchId: string }>(batch).batchId}`,
    `/developers/webhooks/${message?.id ?? ''}`,
  ];
}

interface Waiting {
  readonly ada: Person;
  readonly stuck: readonly string[];
}

/** What waits for a second person, of each kind. The paths of the operators' pages that show one. */
export async function fillApprovals({ ada, stuck: [stuck = ''] }: Waiting): Promise<string[]> {
  const reason = 'the supplier says that it will not deliver, ticket 4711';
  const ask = async (path: string, body: object) => dataOf(await ada.call('POST', path, body));
  await ask('/ops/rates', { currency: 'NGN', rate: '16502.50', reason });
  const repair = await ask('/ops/batch-repairs', {
    ...{ action: 'check-supplier', filter: { class: 'paid-not-delivered' }, maxRows: 3, reason },
    repairKey: crypto.randomUUID(),
  });
  await ask(`/ops/purchases/${stuck}/actions`, { action: 'cancel', reason, evidence: 'ticket 4711' });
  return [`/purchases/${stuck}`, `/repairs/${String(repair['repairId'])}`];
}

/**
 * What a person cannot read in what is shown: words of the program instead of ours, text that is cut without
 * a way to see the rest, text in a column of letters, and text over text.
 */
export const unreadable = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const found = new Set();
    const shown = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.textContent.trim();
      const parent = node.parentElement;
      if (text === '' || !shown(parent) || parent.closest('svg, script, style') !== null) continue;
      const said = text.slice(0, 60);
      const style = getComputedStyle(parent);
      const isCode = parent.closest('code, pre, kbd, textarea') !== null;
      for (const word of ['undefined', 'NaN', '[object', 'Invalid Date', 'null'])
        if (!isCode && text.includes(word)) found.add('says ' + word + ': ' + said);
      if (!isCode && /(^|\\s)[a-z]+[A-Z][A-Za-z]*([\\s:;,.]|$)/.test(text.replace(/eSIMs?|iPhones?|iPad|iOS/g, '')))
        found.add('a name of the program: ' + said);
      if (parent.scrollWidth > parent.clientWidth + 1 && style.overflowX !== 'visible' && style.overflowX !== 'auto' &&
          parent.clientWidth > 1 && parent.closest('[title]') === null)
        found.add('is cut: ' + said);
      const range = document.createRange();
      range.selectNodeContents(node);
      // Only what is seen of it: an id may be cut, a heading may be for screen readers alone.
      let lines = [...range.getClientRects()].map(({ left, top, right, bottom }) => ({ left, top, right, bottom }));
      for (let box = parent; box !== null && box !== document.body; box = box.parentElement) {
        const { overflowX, clipPath, clip } = getComputedStyle(box);
        if (overflowX === 'visible' && clipPath === 'none' && clip === 'auto') continue;
        const edge = box.getBoundingClientRect();
        lines = lines.map((line) => ({
          left: Math.max(line.left, edge.left),
          right: Math.min(line.right, edge.right),
          top: Math.max(line.top, edge.top),
          bottom: Math.min(line.bottom, edge.bottom),
        }));
      }
      lines = lines.filter(({ left, top, right, bottom }) => right - left > 2 && bottom - top > 2);
      if (text.length > 8 && lines.length > 3 && text.length / lines.length < 4) found.add('a column of letters: ' + said);
      if (style.position !== 'fixed' && parent.closest('[data-fixed], header, nav, .mantine-AppShell-header, .mantine-AppShell-navbar') === null)
        boxes.push({ said, parent, lines });
    }
    for (const [at, one] of boxes.entries())
      for (const other of boxes.slice(at + 1, at + 40)) {
        if (one.parent.contains(other.parent) || other.parent.contains(one.parent)) continue;
        for (const a of one.lines)
          for (const b of other.lines)
            if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
                Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5)
              found.add(one.said + ' stands on ' + other.said);
      }
    return [...found];
  })()`);
