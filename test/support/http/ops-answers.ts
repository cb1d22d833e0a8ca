// One of everything that a world answers under /ops, and the ids that tests ask for.
import type { ActionPreview, ActionRecord } from '../../../src/operations/actions.ts';
import type { BatchRepairPlan, BatchRepairs } from '../../../src/operations/batch-repairs.ts';
import type { EffectPreview } from '../../../src/operations/store/actions.ts';
import type { BatchRepair } from '../../../src/operations/store/batch-repairs.ts';
import type { AccountOverview, ListedAccount } from '../../../src/operations/accounts.ts';
import type { AuditLine } from '../../../src/operations/audit-log.ts';
import type { Found } from '../../../src/operations/search.ts';
import type { StuckItem } from '../../../src/operations/stuck-rules.ts';
import type { Timeline } from '../../../src/operations/timeline.ts';
import type { TrialBalance } from '../../../src/reconciliation/books.ts';
import type { ListedTransaction } from '../../../src/purchases/store/list-transactions.ts';
import type { Overview } from '../../../src/reconciliation/overview.ts';

export const AT = new Date('2026-01-31T09:30:00.000Z');
export const TXN = `txn-${'0'.repeat(31)}1`;
export const NO_TXN = `txn-${'f'.repeat(32)}`;
export const ACCOUNT = `acc-${'0'.repeat(31)}1`;
export const NO_ACCOUNT = `acc-${'f'.repeat(32)}`;
export const MOVE = `move-${'0'.repeat(31)}1`;
export const REPAIR = `repair-${'0'.repeat(31)}1`;
export const NO_REPAIR = `repair-${'f'.repeat(32)}`;

export const naira = {
  id: '6',
  currency: 'NGN',
  micros: 1_534_250_000n,
  source: 'config',
  observedAtMs: AT.getTime(),
} as const;

export const proposedRate = {
  id: '7',
  currency: 'NGN',
  micros: 16_000_000_000n,
  source: 'operator',
  observedAt: AT,
  proposedBy: 'ada',
  proposedReason: 'a test',
} as const;

export const terms = { userMarkupBps: 2_500, merchantMarkupBps: 1_500, ngnIncrementBps: 300 } as const;
export const costs = { packageCode: 'NG-1', name: 'Nigeria', packageType: 'BASE', cost: 20_000n } as const;

export const stuck: StuckItem = {
  transactionId: TXN,
  class: 'paid-not-delivered',
  ageSeconds: 4_000,
  amountMinor: 1_250n,
  currency: 'USD',
  reason: 'SUPPLIER_NEVER_ALLOCATED',
  nextAction: 'replay: checks the supplier and delivers',
};

export const repair: BatchRepair = {
  id: REPAIR,
  repair_key: REPAIR,
  action: 'credit-wallet',
  filter: { class: 'paid-not-delivered' },
  reason: 'a test',
  evidence: null,
  by_person: 'finance@operator.example',
  status: 'RUNNING',
  row_count: 1,
  expires_at: AT,
  decided_by: 'second@operator.example',
  decided_at: AT,
  stop_asked_at: null,
  next_check_at: AT,
  created_at: AT,
  closed_at: null,
  counts: { waiting: 1, done: 0, refused: 0, unknown: 0, skipped: 0 },
};

export const repairDetails: Awaited<ReturnType<BatchRepairs['read']>> = {
  repair,
  rows: [
    {
      repair_id: REPAIR,
      row_number: 1,
      transaction_id: TXN,
      class: 'paid-not-delivered',
      amount_minor: 1_250n,
      currency: 'USD',
      foreseen: 'credits the wallet',
      status: 'WAITING',
      detail: null,
      attempts: 0,
      next_at: null,
      closed_at: null,
    },
  ],
  totals: [{ amountMinor: 1_250n, currency: 'USD' }],
};

export const plan: BatchRepairPlan = {
  rows: [
    {
      transactionId: TXN,
      class: 'paid-not-delivered',
      amount: { amountMinor: 1_250n, currency: 'USD' },
      foreseen: 'credits the wallet',
      isPossible: true,
    },
  ],
  totals: [{ amountMinor: 1_250n, currency: 'USD' }],
  matches: 1,
  isCut: false,
  temporalAsked: true,
};

export const overview: Overview = {
  stuck: {
    ...{ count: 101, oldestAgeSeconds: 4_000, isCut: false, temporalAsked: true },
    classes: [{ class: 'paid-not-delivered', count: 101, oldestAgeSeconds: 4_000 }],
  },
  approvals: { count: 0, oldestAgeSeconds: null },
  differences: { count: 1, oldestAgeSeconds: 60 },
  waiting: {
    asOf: AT,
    lines: [
      {
        ...{ waitsFor: 'delivery', currency: 'USD', amountMinor: 1_250n, items: 1, oldestAt: AT },
        ...{ count: 1, oldestAgeSeconds: 60 },
      },
    ],
  },
};

export const auditLine: AuditLine = {
  id: 'audit-1',
  at: AT,
  by: 'finance@operator.example',
  action: 'wallet.fund',
  subject: ACCOUNT,
  detail: 'reference: r1',
  amount: { amountMinor: 1_250n, currency: 'USD' },
  reason: 'a test',
  approvedBy: null,
  outcome: 'DONE',
};

export const listedTransaction: ListedTransaction = {
  ...{ transactionId: TXN, type: 'BASE', status: 'SUCCESS', reason: null, paymentMethod: 'WALLET' },
  ...{ amountMinor: 1_250n, currency: 'USD', packageCode: 'SIM-OK', packageName: 'A package', dataBytes: 1n },
  ...{ esimId: null, iccid: null, createdAt: AT, closedAt: AT },
};

export const listedAccount: ListedAccount = {
  id: ACCOUNT,
  type: 'MERCHANT',
  name: 'Merchant Ltd',
  email: 'owner@merchant.example',
  websiteUrl: null,
  currency: 'USD',
  plan: 'STANDARD',
  requestsPerMinute: 100,
  balance: { amountMinor: 1_250n, currency: 'USD' },
  disabledAt: null,
  createdAt: AT,
};

export const accountOverview: AccountOverview = {
  ...listedAccount,
  onHoldMinor: 0n,
  keys: 1,
  members: 2,
  endpoints: 0,
  openPurchases: 1,
  openFundings: 0,
  stuck: 1,
};

export const foundPurchase: Found = {
  kind: 'purchase',
  id: TXN,
  title: 'Nigeria 5GB, USD 12.50, PROCESSING',
  account: { accountId: ACCOUNT, name: 'Merchant Ltd' },
  foundBy: 'id',
};

export const record: ActionRecord = {
  moveId: MOVE,
  transactionId: TXN,
  move: 'refund-to-source',
  by: 'finance@operator.example',
  reason: 'a test',
  evidence: null,
  amount: { amountMinor: 1_250n, currency: 'USD' },
  packageCode: null,
  goodwill: false,
  status: 'WAITS_FOR_APPROVAL',
  detail: null,
  refusal: null,
  approvedBy: null,
  decisionReason: null,
  createdAt: AT,
  closedAt: null,
  expiresAt: AT,
};

export const preview = {
  transactionId: TXN,
  purpose: 'purchase',
  status: 'PROCESSING',
  state: 'delivering',
  attentionReason: 'SUPPLIER_NEVER_ALLOCATED',
  fits: ['look-at-gateway', 'look-at-supplier', 'retry-delivery', 'deliver-other', 'cancel'],
  replay: ['look-at-supplier', 'retry-delivery'],
} as const satisfies Partial<ActionPreview> as unknown as ActionPreview;

export const story: Timeline = {
  transactionId: TXN,
  purpose: 'purchase',
  status: 'PROCESSING',
  reason: null,
  accountId: `acc-${'0'.repeat(32)}`,
  paymentMethod: 'CARD',
  amountMinor: 1_250n,
  currency: 'USD',
  attention: { reason: 'SUPPLIER_NEVER_ALLOCATED', since: AT },
  package: { packageCode: 'NG-5GB-30D', name: 'Nigeria 5GB', type: 'BASE' as const },
  quote: { costUsdE4: 10_000n, settingsId: '1', rateId: null },
  hold: { status: 'HELD', amountMinor: 1_250n, currency: 'USD' },
  payments: [
    {
      reference: TXN,
      attempt: 1,
      method: 'CARD',
      status: 'CLOSED',
      charge_minor: 1_250n,
      charge_currency: 'USD',
      price_minor: 1_250n,
      price_currency: 'USD',
      expires_at: AT,
      booked_minor: 1_250n,
      booked_currency: 'USD',
      paid_hold: true,
      reversed_minor: 0n,
      gateway_id: '1',
      gateway_status: 'success',
      looked_at: AT,
      created_at: AT,
    },
  ],
  refunds: [
    {
      refund_key: `${TXN}:refund`,
      status: 'DUE',
      gateway_status: null,
      amount_minor: 1_250n,
      currency: 'USD',
      created_at: AT,
      asked_at: null,
    } as Timeline['refunds'][number],
  ],
  entries: [
    {
      operation_key: `${TXN}:settle`,
      kind: 'settled',
      at: AT,
      account: 'clearing:USD',
      currency: 'USD',
      amount_minor: -1_250n,
    },
    {
      operation_key: `${TXN}:settle`,
      kind: 'settled',
      at: AT,
      account: 'revenue:USD',
      currency: 'USD',
      amount_minor: 1_250n,
    },
  ],
  disputes: [
    {
      reference: TXN,
      dispute_id: '4711',
      transaction_id: TXN,
      operation_key: 'secret-of-nobody',
      gateway_state: null,
      gateway_status: 'awaiting-merchant-feedback',
      looked_at: AT,
      outcome: null,
      settled_by_move: null,
      opened_at: AT,
      settled_at: null,
    },
  ],
  supplier: {
    costUsdE4: 10_001n,
    lookedAt: AT,
    asks: 1,
    orderNo: 'B1',
    esimId: `esim-${'0'.repeat(32)}`,
    esimStatus: 'PENDING' as const,
    iccid: null,
  },
  messages: [
    {
      id: `msg-${'0'.repeat(32)}`,
      event: 'esim.purchased',
      status: 'DELIVERED',
      attempts: 1,
      host: 'shop.example.com',
      created_at: AT,
      closed_at: AT,
    } as Timeline['messages'][number],
  ],
  moves: [record],
  workflows: [
    {
      workflowId: TXN,
      type: 'purchase',
      status: 'RUNNING',
      startedAt: AT,
      closedAt: null,
      historyEvents: 20,
      needsAttention: true,
      reason: null,
    },
  ],
  stuck: [stuck],
  fits: preview.fits,
  timeline: [{ at: AT, source: 'purchase', what: 'opened', detail: '' }],
};

export const difference = {
  id: 42n,
  kind: 'amount-differs',
  subject: TXN,
  transactionId: TXN,
  currency: 'USD4',
  amountMinor: -12_345n,
  ours: { amountMinor: '1' },
  theirs: null,
  firstSeenAt: AT,
  lastSeenAt: AT,
} as const;

export const reconciled = {
  runId: '7',
  from: AT.toISOString(),
  to: AT.toISOString(),
  compared: { charges: 3 },
  opened: 1,
  closed: 0,
  open: [{ kind: 'amount-differs', count: 1 }],
} as const;

export const trialBalance: TrialBalance = {
  report: 'trial-balance',
  lines: [
    {
      account: 'supplier-cost:USD4',
      kind: 'supplier-cost',
      class: 'expense',
      currency: 'USD4',
      accounts: 1,
      debitMinor: 12_345n,
      creditMinor: 0n,
    },
  ],
  totals: [{ currency: 'USD4', debitMinor: 12_345n, creditMinor: 12_345n, isBalanced: true }],
};

export const earned = {
  currency: 'NGN',
  deliveries: 2,
  soldMinor: 200_000n,
  correctedMinor: -5n,
  revenueMinor: 199_995n,
  costUsdE4: 9_999n,
  costMinor: 160_000n,
  marginMinor: 39_995n,
  marginBps: 2_000,
} as const;

export const day = { day: '2026-01-31', packageType: 'BASE', ...earned } as const;

export const merchant = {
  accountId: 'acc-1',
  email: 'ada@example.com',
  packageType: null,
  ...earned,
} as const;

export const waitingLine = {
  waitsFor: 'delivery',
  currency: 'USD',
  amountMinor: 1_250n,
  items: 1,
  oldestAt: AT,
} as const;

export const effect: EffectPreview = {
  outcome: 'would-do',
  did: 'credits the wallet',
  amount: { amountMinor: 1_250n, currency: 'USD' },
  accountId: ACCOUNT,
  email: null,
  entries: [{ account: `wallet:${ACCOUNT}`, currency: 'USD', debitMinor: 0n, creditMinor: 1_250n }],
  refunds: [{ amountMinor: 1_250n, currency: 'USD' }],
  secondPerson: 'above-limit',
};
