/**
 * What is under /ops, in memory: sessions whose token names a role, and a world that answers one of everything and writes down what it was
 * asked. The real thing runs in test/store and test/e2e.
 */
import type { OpsUseCases } from '../../../src/platform/composition/ops-use-cases.ts';
import type { TrialBalance } from '../../../src/reconciliation/books.ts';
import type { OpsWorld } from '../../../src/platform/composition/ops-world.ts';
import type { ActionPreview, ActionRecord } from '../../../src/operations/actions.ts';
import type { Timeline } from '../../../src/operations/timeline.ts';
import type { Environment } from '../../../src/domain/account.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import type { ActionOutcome } from '../../../src/operations/rules.ts';
import { may, mayMove, ROLES, type Role } from '../../../src/accounts/roles.ts';
import type { StuckItem } from '../../../src/operations/stuck-rules.ts';
import type { Session } from '../../../src/accounts/sessions.ts';
import type { OneTimePassword, PersonView } from '../../../src/accounts/people.ts';

const AT = new Date('2026-01-31T09:30:00.000Z');
export const TXN = `txn-${'0'.repeat(31)}1`;
export const NO_TXN = `txn-${'f'.repeat(32)}`;
export const MOVE = `move-${'0'.repeat(31)}1`;
export const PERSON = `person-${'0'.repeat(31)}1`;
export const NO_PERSON = `person-${'f'.repeat(32)}`;
export const PASSWORD = 'correct horse battery staple';

/** The token of somebody with a role; `NEW`: of somebody who has to choose a password first. */
export const tokenOf = (who: Role | 'NEW'): string => `ops_${who}`;

export interface MemoryOps extends OpsUseCases {
  /** `<world> <verb> <by>` of everything that was asked, and refusals. */
  readonly calls: string[];
  readonly refused: string[];
  /** What the next move comes to. */
  outcome: ActionOutcome;
}

export function createMemoryOps({ live = false }: { readonly live?: boolean } = {}): MemoryOps {
  const calls: string[] = [];
  const refused: string[] = [];
  const state = { outcome: done };
  return {
    calls,
    refused,
    get outcome() {
      return state.outcome;
    },
    set outcome(outcome: ActionOutcome) {
      state.outcome = outcome;
    },
    sessions: createSessions(calls, refused),
    people: {
      list: ({ page, limit }) => noted(calls, 'people list', { items: [person], total: 1, page, limit }),
      create: (session, { email, name, role }) =>
        noted(calls, `people create ${byOf(session)}`, oneTime({ ...person, email, name, role })),
      change: (session, personId) => {
        if (personId !== PERSON) throw new DomainError('NOT_FOUND', 'There is no such person');
        return noted(calls, `people change ${byOf(session)}`, person);
      },
      resetPassword: (session) => noted(calls, `people reset ${byOf(session)}`, oneTime(person)),
    },
    worlds: {
      test: createWorld('test', { calls, refused, state }),
      ...(live ? { live: createWorld('live', { calls, refused, state }) } : {}),
    },
  };
}

const done: ActionOutcome = { outcome: 'done', moveId: MOVE, did: 'looked at the gateway' };

const byOf = ({ person: { email } }: Session): string => email;

function noted<T>(calls: string[], call: string, answer: T): Promise<T> {
  calls.push(call);
  return Promise.resolve(answer);
}

function createSessions(calls: string[], refused: string[]): OpsUseCases['sessions'] {
  const known = new Map([...ROLES, 'NEW' as const].map((who) => [tokenOf(who), sessionOf(who)]));
  return {
    signIn: ({ email, password, address }) => {
      calls.push(`sign in from ${address}`);
      const role = ROLES.find((one) => email.toUpperCase().startsWith(one));
      if (!role || password !== PASSWORD) return Promise.reject(new DomainError('UNAUTHORIZED', 'Wrong'));
      return Promise.resolve({ token: tokenOf(role), session: sessionOf(role) });
    },
    authenticate: (token) => {
      const session = known.get(token);
      if (session) return Promise.resolve(session);
      return Promise.reject(new DomainError('INVALID_TOKEN', 'The session is unknown or has ended: sign in'));
    },
    authorise: (session, permission, { subject }) => {
      if (!session.mustChangePassword && may(session.person.role, permission)) return Promise.resolve();
      refused.push(`${session.person.role} ${subject}`);
      return Promise.reject(new DomainError('FORBIDDEN', `Your role may not ${permission}`));
    },
    signOut: (session) => {
      for (const [token, one] of known) if (one === session) known.delete(token);
      return noted(calls, `sign out ${byOf(session)}`, undefined);
    },
    changePassword: (session, { current }) => {
      if (current !== PASSWORD) return Promise.reject(new DomainError('UNAUTHORIZED', 'Wrong'));
      return noted(calls, `change password ${byOf(session)}`, undefined);
    },
  };
}

function sessionOf(who: Role | 'NEW'): Session {
  const role = who === 'NEW' ? 'ADMIN' : who;
  return {
    person: { personId: PERSON, email: `${who.toLowerCase()}@operator.example`, name: who, role },
    mustChangePassword: who === 'NEW',
    expiresAt: AT,
    tokenSha256: Buffer.alloc(32),
  };
}

const person: PersonView = {
  personId: PERSON,
  email: 'ada@operator.example',
  name: 'Ada',
  role: 'SUPPORT',
  mustChangePassword: true,
  lockedUntil: AT,
  disabledAt: null,
  createdAt: AT,
};

function oneTime(made: PersonView): OneTimePassword {
  return { person: made, oneTimePassword: 'abcde-abcde-abcde-abcde', oneTimeUntil: AT };
}

interface Noting {
  readonly calls: string[];
  readonly refused: string[];
  readonly state: { readonly outcome: ActionOutcome };
}

function createWorld(environment: Environment, { calls, refused, state }: Noting): OpsWorld {
  const note = <T>(call: string, answer: T): Promise<T> => noted(calls, `${environment} ${call}`, answer);
  const known = <T>(id: string, call: string, answer: T): Promise<T> =>
    id === NO_TXN
      ? Promise.reject(new DomainError('TRANSACTION_NOT_FOUND', 'There is no such purchase or funding'))
      : note(call, answer);
  return {
    listStuck: ({ page, limit }) =>
      note('stuck', { items: [stuck], total: 11, page, limit, isCut: false, temporalAsked: true }),
    readTimeline: (id) => known(id, `story ${id}`, story),
    listMoves: (id) => known(id, 'moves', { preview, made: [record] }),
    makeMove: (session, move) => {
      if (!mayMove(session.person.role, move.move)) {
        refused.push(`${session.person.role} ${move.move}`);
        return Promise.reject(new DomainError('FORBIDDEN', 'Your role may not'));
      }
      const { amount } = move;
      const worth = amount ? ` ${amount.amountMinor} ${amount.currency}` : '';
      return known(move.transactionId, `move ${move.move}${worth} ${byOf(session)}`, state.outcome);
    },
    listWaitingMoves: () => note('waiting', [{ ...record, expiresAt: AT }]),
    approveMove: (session, moveId) => note(`approve ${moveId} ${byOf(session)}`, state.outcome),
    declineMove: (session, moveId) => note(`decline ${moveId} ${byOf(session)}`, state.outcome),
    replay: (session, id, { dryRun }) =>
      known(id, `replay ${dryRun ? 'dry ' : ''}${byOf(session)}`, {
        transactionId: id,
        before: 'PROCESSING, delivering',
        after: 'SUCCESS, delivered',
        steps: [{ step: 'look-at-supplier', outcome: 'done', detail: 'delivered' }],
      }),
    dismissEvent: (session) => note(`dismiss ${byOf(session)}`, undefined),
    listDifferences: ({ page, limit }) => note('differences', { items: [difference], total: 1, page, limit }),
    closeDifference: (session, id) =>
      id === 404n
        ? Promise.reject(new DomainError('NOT_FOUND', 'There is no such difference'))
        : note(`close ${id} ${byOf(session)}`, undefined),
    reconcile: (session, range) =>
      note(
        `reconcile ${byOf(session)}`,
        range && range.from.getUTCFullYear() === 2001 ? null : range ? 'running' : reconciled,
      ),
    readTrialBalance: () => note('trial balance', trialBalance),
    readDaily: () => note('daily', { report: 'daily', lines: [day], totals: [earned] }),
    readByMerchant: () => note('by merchant', { report: 'merchants', lines: [merchant], totals: [earned] }),
    readWaiting: () => note('waiting money', { report: 'waiting', lines: [waitingLine] }),
    toCsv: ({ report }) => `${report}\r\n`,
  };
}

const stuck: StuckItem = {
  transactionId: TXN,
  class: 'paid-not-delivered',
  ageSeconds: 4_000,
  amountMinor: 1_250n,
  currency: 'USD',
  reason: 'SUPPLIER_NEVER_ALLOCATED',
  nextAction: 'replay: checks the supplier and delivers',
};

const record: ActionRecord = {
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
  createdAt: AT,
  closedAt: null,
  expiresAt: AT,
};

const preview = {
  transactionId: TXN,
  purpose: 'purchase',
  status: 'PROCESSING',
  state: 'delivering',
  attentionReason: 'SUPPLIER_NEVER_ALLOCATED',
  fits: ['look-at-gateway', 'look-at-supplier', 'retry-delivery', 'deliver-other', 'cancel'],
  replay: ['look-at-supplier', 'retry-delivery'],
} as const satisfies Partial<ActionPreview> as unknown as ActionPreview;

const story: Timeline = {
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
  supplier: {
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

const difference = {
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

const reconciled = {
  runId: '7',
  from: AT.toISOString(),
  to: AT.toISOString(),
  compared: { charges: 3 },
  opened: 1,
  closed: 0,
  open: [{ kind: 'amount-differs', count: 1 }],
} as const;

const trialBalance: TrialBalance = {
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

const earned = {
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

const day = { day: '2026-01-31', packageType: 'BASE', ...earned } as const;

const merchant = { accountId: 'acc-1', email: 'ada@example.com', packageType: null, ...earned } as const;

const waitingLine = {
  waitsFor: 'delivery',
  currency: 'USD',
  amountMinor: 1_250n,
  items: 1,
  oldestAt: AT,
} as const;
