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
import { recordAccess } from '../../../src/accounts/store/access.ts';
import { sessionUseCases, type Session } from '../../../src/accounts/sessions.ts';
import { insertPerson, openSession } from '../../../src/accounts/store/people.ts';
import { effectOn, totalsOf } from '../../../src/catalogue/price-effect.ts';
import type { Environment } from '../../../src/domain/account.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { makeId } from '../../../src/domain/ids.ts';
import type { OperatorActions } from '../../../src/operations/actions.ts';
import type { BatchRepairs } from '../../../src/operations/batch-repairs.ts';
import type { ActionOutcome } from '../../../src/operations/rules.ts';
import { bindAll } from '../../../src/platform/composition/bind.ts';
import type { OpsUseCases } from '../../../src/platform/composition/ops-use-cases.ts';
import { createOpsWorld, type OpsWorld } from '../../../src/platform/composition/ops-world.ts';
import type { Books } from '../books.ts';
import {
  accountOverview,
  AT,
  auditLine,
  costs,
  day,
  difference,
  earned,
  effect,
  foundPurchase,
  listedAccount,
  listedTransaction,
  merchant,
  MOVE,
  naira,
  NO_ACCOUNT,
  NO_REPAIR,
  NO_TXN,
  overview,
  plan,
  preview,
  proposedRate,
  reconciled,
  record,
  repair,
  repairDetails,
  story,
  stuck,
  terms,
  trialBalance,
  waitingLine,
} from './ops-answers.ts';

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
      await sql`delete from accounts.access_grants`.execute(books.owner);
      await sql`delete from accounts.people`.execute(books.owner);
      const passwordHash = await passwords.hash(PASSWORD);
      await Promise.all(EVERYBODY.map((who) => addPerson(books.accounts, who, passwordHash)));
    },
    sessions: { ...sessions, ...noted(calls, sessions, ['signIn', 'signOut', 'changePassword']) },
    people: noted(calls, people, ['list', 'create', 'change', 'resetPassword', 'confirm']),
    temporalUi: {
      url: 'http://temporal.example',
      namespaces: { test: 'simway-test', live: live ? 'simway-live' : null },
    },
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
    one_time_until: who === 'NEW' || who === 'OTHER' ? expiresAt : null,
    locked_until: who === 'OTHER' ? expiresAt : null,
  });
  if (who === 'OTHER') await recordAccess(db, waitingFor(personId, now));
  const tokenSha256 = hash('sha256', tokenOf(who), 'buffer');
  if (who !== 'OTHER')
    await openSession(db, { tokenSha256, personId, passwordHash, address: '127.0.0.1', now, expiresAt });
}

const waitingFor = (personId: string, now: Date) => ({
  person_id: personId,
  email: 'other@operator.example',
  role: 'SUPPORT' as const,
  given_by: 'somebody@operator.example',
  given_at: now,
  second_half: 'CCCCC-DDDDD',
  confirmed_by: null,
  confirmed_at: null,
});

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
  const knownAccount = <T>(id: string, call: string, answer: T): Promise<T> =>
    id === NO_ACCOUNT
      ? Promise.reject(new DomainError('NOT_FOUND', 'There is no such account'))
      : note(call, answer);
  const actions: Pick<OperatorActions, 'perform' | 'previewEffect'> = {
    previewEffect: ({ transactionId, move, by }) => known(transactionId, `preview ${move} ${by}`, effect),
    perform: ({ transactionId, move, amount, by }) => {
      const worth = amount ? ` ${amount.amountMinor} ${amount.currency}` : '';
      return known(transactionId, `move ${move}${worth} ${by}`, state.outcome);
    },
  };
  const batchRepairs: Pick<BatchRepairs, 'plan' | 'ask'> = {
    plan: ({ action, by }) => note(`plan ${action} ${by}`, plan),
    ask: ({ action, by }) => note(`ask ${action} ${by}`, repairDetails),
  };
  const knownRepair = (id: string, call: string) =>
    id === NO_REPAIR
      ? Promise.reject(new DomainError('NOT_FOUND', 'There is no such batch repair'))
      : note(call, repairDetails);
  // The real ones decide whether the role may take the action.
  const { makeAction, previewAction, planBatchRepair, askForBatchRepair } = createOpsWorld({
    ...{ accounts: books.accounts, actions, batchRepairs },
    books: {},
  } as Parameters<typeof createOpsWorld>[0]);
  return {
    listStuck: ({ page, limit }) =>
      note('stuck', { items: [stuck], total: 11, page, limit, isCut: false, temporalAsked: true }),
    readTimeline: (id) => known(id, `story ${id}`, story),
    listActions: (id) => known(id, 'moves', { preview, made: [record] }),
    makeAction,
    previewAction,
    listWaitingActions: () => note('waiting', [{ ...record, expiresAt: AT }]),
    previewApproval: (moveId) => note(`preview ${moveId}`, effect),
    approveAction: (session, moveId, reason) =>
      note(`approve ${moveId} ${byOf(session)} ${reason}`, state.outcome),
    declineAction: (session, moveId, reason) =>
      note(`decline ${moveId} ${byOf(session)} ${reason}`, state.outcome),
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
    planBatchRepair,
    askForBatchRepair,
    listBatchRepairs: ({ page, limit }) => note('repairs', { items: [repair], total: 1, page, limit }),
    readBatchRepair: (id) => knownRepair(id, 'repair'),
    decideBatchRepair: (session, id, decision) => knownRepair(id, `${decision} repair ${byOf(session)}`),
    stopBatchRepair: (session, id) => knownRepair(id, `stop repair ${byOf(session)}`),
    readTrialBalance: () => note('trial balance', trialBalance),
    readDaily: () => note('daily', { report: 'daily', lines: [day], totals: [earned] }),
    readByMerchant: () => note('by merchant', { report: 'merchants', lines: [merchant], totals: [earned] }),
    readWaiting: () => note('waiting money', { report: 'waiting', lines: [waitingLine] }),
    readOverview: ({ person: { role } }) => note(`overview ${role}`, overview),
    readAudit: ({ after }) =>
      note(`audit${after ? ` after ${after.id}` : ''}`, {
        items: [auditLine, { ...auditLine, id: MOVE, amount: null, detail: null, reason: null }],
        next: after ? undefined : { source: 'move', atMicros: 1_769_851_800_000_000n, id: MOVE },
      }),
    listAccounts: ({ page, limit }) => note('accounts', { items: [listedAccount], total: 1, page, limit }),
    readAccount: (id) => knownAccount(id, 'account', accountOverview),
    listAccountTransactions: (id) =>
      knownAccount(id, 'transactions', { items: [listedTransaction], next: undefined }),
    changeAccount: (session, id, { plan = '', disabled = '' }) =>
      knownAccount(id, `change account ${plan}${String(disabled)} ${byOf(session)}`, accountOverview),
    search: (session, text) =>
      note(`search ${text} ${session.person.role}`, { items: [foundPurchase], isCut: false }),
    toCsv: ({ report }) => `${report}\r\n`,
    listRates: ({ currency }) =>
      note('rates', {
        good: [{ ...naira, ageSeconds: 60, isSold: true }],
        waiting: [proposedRate],
        words: [{ currency: 'GHS', micros: null, by: 'ada', reason: 'a test', at: AT }],
        history: currency === undefined ? [] : [{ at: AT, micros: naira.micros, source: naira.source }],
      }),
    proposeRate: (session, { currency, micros }) =>
      note(`rate ${currency} ${micros} ${byOf(session)}`, {
        outcome: micros === 16_000_000_000n ? 'waits' : 'set',
        rateId: micros === null ? null : '7',
        beforeMicros: naira.micros,
      }),
    confirmRate: (session, id) =>
      id === 404n
        ? Promise.reject(new DomainError('NOT_FOUND', 'There is no such rate of the last 24 hours'))
        : note(`confirm ${id} ${byOf(session)}`, 'confirmed'),
    listPrices: ({ page, limit }) =>
      note('prices', {
        items: [{ id: 'initial', ...terms, by: 'migrate', reason: 'a test', validFrom: AT }],
        ...{ total: 1, page, limit },
      }),
    previewPrices: (after, { page, limit }) => {
      const before = { id: 'initial', ...terms };
      const effects = effectOn([costs], { before, after, naira });
      const changes = { items: effects, total: 1, page, limit };
      return note('preview', { before, after, naira, packages: 1, totals: totalsOf(effects), changes });
    },
    savePrices: (session, { version }) =>
      version === 'initial'
        ? note(`save ${byOf(session)}`, 'set')
        : Promise.reject(new DomainError('PRICES_CHANGED', 'The prices changed since the preview')),
  };
}
