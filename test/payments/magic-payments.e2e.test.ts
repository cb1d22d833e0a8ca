// Every SIM-PAY code of docs/SANDBOX.md, bought by card without any other action, each on its own account;
// the two about transfers also by transfer. All are bought at once, so that the time of unpaid ones passes
// only once.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPurchaseRow, newBuyer, timelineOf, type Buyer } from '../support/people/buyer.ts';
import {
  buyThroughGateway,
  chargeAt,
  confirm,
  type GatewayMethod,
  type Paid,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

/** The end of a purchase for $2.30. */
interface Ends {
  readonly status: 'SUCCESS' | 'FAILED' | 'PENDING';
  readonly reason?: string;
  /** The wallet's balance at the end, in cents. */
  readonly walletMinor?: number;
  readonly attention?: string;
  /** The timeline after `opened`. */
  readonly timeline: readonly string[];
  /** The timeline on a busy machine that checked only after both events, or found the second first. */
  readonly onBusyMachine?: readonly string[];
  /** The gateway's final state of the charge. */
  readonly charge: 'success' | 'failed' | 'reversed' | 'abandoned' | 'ongoing';
}

const DELIVERED = { status: 'SUCCESS', charge: 'success' } as const;
const UNPAID = { status: 'FAILED', reason: 'PAYMENT_EXPIRED', timeline: ['failed'] } as const;
const UNDELIVERED = { status: 'FAILED', reason: 'PACKAGE_UNAVAILABLE' } as const;
const SHORT = {
  status: 'FAILED',
  reason: 'PAYMENT_UNDERPAID',
  walletMinor: 184,
  timeline: ['payment-received-short', 'failed'],
  charge: 'success',
} as const;

const CODES: Readonly<Record<string, Ends>> = {
  'SIM-PAY-NOW': { ...DELIVERED, timeline: ['payment-received', 'delivered'] },
  'SIM-PAY-DECLINE': { ...UNPAID, charge: 'failed' },
  'SIM-PAY-INSUFFICIENT-FUNDS': { ...UNPAID, charge: 'failed' },
  'SIM-PAY-SHORT': SHORT,
  'SIM-PAY-OVER': { ...DELIVERED, walletMinor: 46, timeline: ['payment-received-over', 'delivered'] },
  'SIM-PAY-FEES-ON-TOP': { ...DELIVERED, timeline: ['payment-received', 'delivered'] },
  'SIM-PAY-OTHER-CURRENCY': {
    status: 'FAILED',
    reason: 'PAYMENT_WRONG_CURRENCY',
    timeline: ['payment-received-in-other-currency', 'failed', 'refunded'],
    charge: 'reversed',
  },
  'SIM-PAY-RETURNED': SHORT,
  'SIM-PAY-LATE': {
    ...UNPAID,
    walletMinor: 230,
    timeline: ['failed', 'payment-received-late'],
    charge: 'success',
  },
  'SIM-PAY-TWICE': {
    ...DELIVERED,
    walletMinor: 230,
    timeline: ['payment-received', 'delivered', 'payment-received-again'],
    onBusyMachine: ['payment-received-over', 'delivered'],
  },
  'SIM-PAY-SILENT': { ...DELIVERED, timeline: ['payment-received', 'delivered'] },
  'SIM-PAY-REVERSED': {
    status: 'SUCCESS',
    attention: 'PAYMENT_REVERSED',
    timeline: ['payment-received', 'delivered', 'payment-reversed'],
    charge: 'reversed',
  },
  'SIM-PAY-DISPUTED': {
    ...DELIVERED,
    attention: 'PAYMENT_DISPUTED',
    timeline: ['payment-received', 'delivered', 'payment-disputed'],
    onBusyMachine: ['payment-received', 'payment-disputed', 'delivered'],
  },
  'SIM-PAY-REFUNDED': {
    ...UNDELIVERED,
    timeline: ['payment-received', 'failed', 'refunded'],
    charge: 'reversed',
  },
  'SIM-PAY-REFUND-FAILS': {
    ...UNDELIVERED,
    walletMinor: 230,
    timeline: ['payment-received', 'failed', 'refund-credited-to-wallet'],
    charge: 'success',
  },
  'SIM-PAY-REFUND-NEEDS-ATTENTION': {
    ...UNDELIVERED,
    attention: 'REFUND_NEEDS_ATTENTION',
    timeline: ['payment-received', 'failed', 'refund-blocked'],
    charge: 'success',
  },
  'SIM-PAY-NEVER': { ...UNPAID, charge: 'abandoned' },
};

/** Differences of a transfer from a card. */
const BY_TRANSFER: Readonly<Record<string, Ends>> = {
  'SIM-PAY-RETURNED': { status: 'PENDING', timeline: ['transfer-returned-by-the-bank'], charge: 'ongoing' },
  // Its account is valid for ten steps, and the money arrives twenty later.
  'SIM-PAY-LATE': { ...CODES['SIM-PAY-LATE']! },
};

const TOP_UPS = ['SIM-PAY-NOW', 'SIM-PAY-SHORT', 'SIM-PAY-REFUNDED'];
/** The pace of scenarios, and how long a page takes money here, instead of a day. */
const SCENARIO_MS = 500;
const CHECKOUT_MS = 6_000;
const LATE_CARD_MS = 24 * 3_600_000 + 6 * 60_000;

interface Case {
  readonly code: string;
  readonly method: GatewayMethod;
  readonly type: 'BASE' | 'TOPUP';
  readonly ends: Ends;
}

/** It moves the gateway's clock by a day, so it comes last. */
const isLateCard = ({ code, method }: Pick<Case, 'code' | 'method'>): boolean =>
  code === 'SIM-PAY-LATE' && method === 'CARD';

const caseOf =
  (method: GatewayMethod, type: Case['type']) =>
  ([code, ends]: readonly [string, Ends]): Case => ({ code, method, type, ends });
const CASES: Case[] = [
  ...Object.entries(CODES).map(caseOf('CARD', 'BASE')),
  ...Object.entries(BY_TRANSFER).map(caseOf('BANK_TRANSFER', 'BASE')),
  ...TOP_UPS.map((code) => caseOf('CARD', 'TOPUP')([code, CODES[code]!])),
].toSorted((a, b) => Number(isLateCard(a)) - Number(isLateCard(b)));
const started = new Map<Case, Promise<{ buyer: Buyer; bought: Paid; walletMinor: bigint }>>();

const stack = await soundStack({
  gateway: { scenarioMs: SCENARIO_MS },
  timings: { pollFirstMs: 500, checkoutMs: CHECKOUT_MS },
});
for (const each of CASES) {
  const buying = buyCase(each);
  buying.catch(() => undefined);
  started.set(each, buying);
  await buying;
}

async function buyCase({ code, method, type }: Case) {
  const buyer = await newBuyer(stack, { fundsMinor: type === 'BASE' ? 1n : 1_000n });
  const esim = type === 'TOPUP' ? { esimId: (await buyer.activeEsim()).esimId } : {};
  const packageCode = type === 'TOPUP' ? `TOPUP_${code}` : code;
  const walletMinor = await buyer.balanceMinor();
  const bought = await buyThroughGateway(stack, buyer.account, { method, packageCode, ...esim });
  return { buyer, bought, walletMinor };
}

describe('the payment codes', () => {
  it.each(CASES)('end as documented: $code by $method as $type', async (each: Case) => {
    const { ends, code } = each;
    const { buyer, bought, walletMinor } = await started.get(each)!;
    expect(bought.answer.body.status).toBe('PENDING');
    const { transactionId } = bought;
    if (isLateCard(each)) await letADayPass(transactionId);
    // There is no event about a reversal: the next check sees it.
    if (code === 'SIM-PAY-REVERSED')
      await until(
        () => confirm(stack, buyer.account, transactionId),
        ({ body }) => body.timeline.at(-1)?.what === 'payment-reversed',
      );
    const wanted = [ends.timeline, ends.onBusyMachine ?? ends.timeline].map((what) =>
      ['opened', ...what].join(),
    );
    await until(
      () => timelineOf(stack, transactionId),
      (timeline) => wanted.includes(timeline.join()),
      { what: `the end of ${code}: ${wanted[0]}` },
    );
    const row = await until(
      () => findPurchaseRow(stack, transactionId),
      (found) => found?.status === ends.status && found.attention_reason === (ends.attention ?? null),
      { what: `${code} as documented` },
    );
    expect(row?.reason).toBe(ends.reason ?? null);
    expect(await buyer.balanceMinor()).toBe(walletMinor + creditedMinor(ends));
    expect((await chargeAt(stack, bought.reference)).status).toBe(ends.charge);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(ends.status === 'SUCCESS' ? 1 : 0);
  });

  it('are all codes of the simulator and of the documentation', async () => {
    const text = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'SANDBOX.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `(SIM-PAY-[A-Z-]+)` +\|/gm)].map((match) => match[1]);
    expect(documented.toSorted()).toEqual(Object.keys(CODES).toSorted());
    const packages = await stack.owner
      .selectFrom('packages')
      .select('package_code')
      .where('package_code', 'like', 'SIM-PAY-%')
      .execute();
    expect(packages.map((row) => row.package_code).toSorted()).toEqual(Object.keys(CODES).toSorted());
  });
});

const creditedMinor = ({ walletMinor = 0 }: Ends): bigint => BigInt(walletMinor);

/**
 * The scenario's card is paid a day and a few minutes after the page was made; the gateway's clock is moved,
 * ours is scaled.
 */
async function letADayPass(transactionId: string): Promise<void> {
  await until(
    () => findPurchaseRow(stack, transactionId),
    (row) => row?.status === 'FAILED',
    { what: 'its end' },
  );
  await fetch(`${stack.gatewayControlUrl}/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceMs: LATE_CARD_MS }),
  });
}
