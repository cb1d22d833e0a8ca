/**
 * What is under /ops: the real sessions and people on a Postgres of the test's own, and worlds that answer one of everything and write down what
 * they were asked, since a real world needs Temporal, vendors and hours to come to some of these answers. Whole worlds run in
 * test/accounts/ops.e2e.test.ts.
 */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { peopleUseCases } from '../../../src/accounts/people.ts';
import { createPasswords } from '../../../src/accounts/passwords.ts';
import { ROLES, type Role } from '../../../src/accounts/roles.ts';
import { sessionUseCases, type Session } from '../../../src/accounts/sessions.ts';
import { insertPerson, openSession } from '../../../src/accounts/store/people.ts';
import type { Environment } from '../../../src/domain/account.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { makeId } from '../../../src/domain/ids.ts';
import type { ActionPreview, ActionRecord, OperatorActions } from '../../../src/operations/actions.ts';
import type { ActionOutcome } from '../../../src/operations/rules.ts';
import type { StuckItem } from '../../../src/operations/stuck-rules.ts';
import type { Timeline } from '../../../src/operations/timeline.ts';
import { bindAll } from '../../../src/platform/composition/bind.ts';
import type { OpsUseCases } from '../../../src/platform/composition/ops-use-cases.ts';
import { createOpsWorld, type OpsWorld } from '../../../src/platform/composition/ops-world.ts';
import type { TrialBalance } from '../../../src/reconciliation/books.ts';
import type { Books } from '../books.ts';

const AT = new Date('2026-01-31T09:30:00.000Z');
export const TXN = `txn-${'0'.repeat(31)}1`;
export const NO_TXN = `txn-${'f'.repeat(32)}`;
export const MOVE = `move-${'0'.repeat(31)}1`;
export const PASSWORD = 'correct horse battery staple';

/** Somebody with a role; `NEW`: an administrator who has to choose a password first; `OTHER`: somebody who has not signed in. */
type Who = Role | 'NEW' | 'OTHER';
const EVERYBODY: readonly Who[] = [...ROLES, 'NEW', 'OTHER'];
export const personOf = (who: Who): string =>
  makeId('person', EVERYBODY.indexOf(who).toString(16).padStart(32, '0'));
export const NO_PERSON = `person-${'f'.repeat(32)}`;
export const tokenOf = (who: Who): string => `ops_${who.padEnd(43, '0')}`;

export interface TestOps extends OpsUseCases {
  /** Everything that was asked since the last reset; `<world> <verb> <by>` in a world. */
  readonly calls: string[];
  /** What the next action comes to. */
  outcome: ActionOutcome;
  /** `<role> <subject>` of what was refused for a role, as the audit log has it since the last reset. */
  refused(): Promise<string[]>;
  /** Everybody as at the beginning, and signed in. */
  reset(): Promise<void>;
}

export function createTestOps(books: Books, { live = false }: { readonly live?: boolean } = {}): TestOps {
  const calls: string[] = [];
  const state = { outcome: done };
  const passwords = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
  const deps = {
    db: books.accounts,
    clock: { now: () => new Date() },
    passwords,
    events: { personLockedOut: () => undefined },
  };
  const sessions = bindAll(deps, sessionUseCases);
  const people = bindAll(deps, peopleUseCases);
  let refusedBefore = 0n;
  const refusals = (after: bigint) =>
    books.accounts
      .selectFrom('audit_log')
      .select(['id', 'subject', 'detail'])
      .where('action', '=', 'ops.refuse')
      .where('id', '>', after)
      .orderBy('id')
      .execute();
  return {
    calls,
    get outcome() {
      return state.outcome;
    },
    set outcome(outcome: ActionOutcome) {
      state.outcome = outcome;
    },
    refused: async () =>
      (await refusals(refusedBefore)).map(
        ({ subject, detail }) => `${(detail as { role: string }).role} ${subject}`,
      ),
    reset: async () => {
      calls.length = 0;
      state.outcome = done;
      refusedBefore = (await refusals(refusedBefore)).at(-1)?.id ?? refusedBefore;
      await sql`delete from accounts.sessions`.execute(books.owner);
      await sql`delete from accounts.people`.execute(books.owner);
      const passwordHash = await passwords.hash(PASSWORD);
      await Promise.all(EVERYBODY.map((who) => addPerson(books.accounts, who, passwordHash)));
    },
    sessions: { ...sessions, ...noted(calls, sessions, ['signIn', 'signOut', 'changePassword']) },
    people: noted(calls, people, ['list', 'create', 'change', 'resetPassword']),
    worlds: {
      test: createWorld('test', { books, calls, state }),
      ...(live ? { live: createWorld('live', { books, calls, state }) } : {}),
    },
  };
}

const done: ActionOutcome = { outcome: 'done', moveId: MOVE, did: 'checked the gateway' };

const byOf = ({ person: { email } }: Session): string => email;

/** The same use cases, each of which notes its name. */
function noted<Cases extends object, Name extends keyof Cases & string>(
  calls: string[],
  cases: Cases,
  names: readonly Name[],
): Pick<Cases, Name> {
  const wrapped = names.map((name) => [
    name,
    (...args: unknown[]): unknown => {
      calls.push(name);
      return (cases[name] as (...given: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(wrapped) as Pick<Cases, Name>;
}

async function addPerson(db: Books['accounts'], who: Who, passwordHash: string): Promise<void> {
  const [now, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  const personId = personOf(who);
  await insertPerson(db, {
    id: personId,
    email: `${who.toLowerCase()}@operator.example`,
    name: who,
    role: who === 'NEW' ? 'ADMIN' : who === 'OTHER' ? 'SUPPORT' : who,
    password_hash: passwordHash,
    one_time_until: who === 'NEW' ? expiresAt : null,
    locked_until: who === 'OTHER' ? expiresAt : null,
  });
  const tokenSha256 = hash('sha256', tokenOf(who), 'buffer');
  if (who !== 'OTHER')
    await openSession(db, { tokenSha256, personId, passwordHash, address: '127.0.0.1', now, expiresAt });
}

interface Noting {
  readonly books: Books;
  readonly calls: string[];
  readonly state: { readonly outcome: ActionOutcome };
}

function createWorld(environment: Environment, { books, calls, state }: Noting): OpsWorld {
  const note = <T>(call: string, answer: T): Promise<T> => {
    calls.push(`${environment} ${call}`);
    return Promise.resolve(answer);
  };
  const known = <T>(id: string, call: string, answer: T): Promise<T> =>
    id === NO_TXN
      ? Promise.reject(new DomainError('TRANSACTION_NOT_FOUND', 'There is no such purchase or funding'))
      : note(call, answer);
  const actions: Pick<OperatorActions, 'perform'> = {
    perform: ({ transactionId, move, amount, by }) => {
      const worth = amount ? ` ${amount.amountMinor} ${amount.currency}` : '';
      return known(transactionId, `move ${move}${worth} ${by}`, state.outcome);
    },
  };
  // The real one decides whether the role may take the action.
  const { makeMove } = createOpsWorld({ accounts: books.accounts, actions, books: {} } as Parameters<
    typeof createOpsWorld
  >[0]);
  return {
    listStuck: ({ page, limit }) =>
      note('stuck', { items: [stuck], total: 11, page, limit, isCut: false, temporalAsked: true }),
    readTimeline: (id) => known(id, `story ${id}`, story),
    listMoves: (id) => known(id, 'moves', { preview, made: [record] }),
    makeMove,
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
