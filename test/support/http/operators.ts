/**
 * Operators over HTTP without Temporal: the real people, sessions and use cases on the test's own Postgres.
 * Only the engine is a small fake: it runs the real steps of an action, once, while the operator waits.
 */
import { createHmac, hash } from 'node:crypto';
import { sql } from 'kysely';
import { deviceLoginUseCases } from '../../../src/accounts/operators/device-logins.ts';
import { createMailStops } from '../../../src/accounts/mail-stops.ts';
import { peopleUseCases } from '../../../src/accounts/operators/people.ts';
import { createAuth, signingSecret } from '../../../src/accounts/users/better-auth.ts';
import { createPasswords } from '../../../src/accounts/users/passwords.ts';
import { SESSION_IDLE_MS } from '../../../src/accounts/users/sessions.ts';
import { ROLES, type Role } from '../../../src/domain/operator-roles.ts';
import { recordAccess } from '../../../src/accounts/store/access.ts';
import { sessionUseCases } from '../../../src/accounts/operators/sessions.ts';
import { approveDeviceLogin, insertDeviceLogin } from '../../../src/accounts/store/device-logins.ts';
import type { Environment } from '../../../src/domain/account.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { EngineUnavailable } from '../../../src/domain/outcome.ts';
import type { ApprovalLimits } from '../../../src/operations/rules.ts';
import { bindAll } from '../../../src/platform/bind.ts';
import { createNetwork } from '../../../src/platform/outbound/network.ts';
import { createUrlGuard } from '../../../src/platform/outbound/url-guard.ts';
import { createSecretBox } from '../../../src/platform/secret-box.ts';
import { createOpsDeps } from '../../../src/app/composition/ops-deps.ts';
import { createOpsWorld, type OpsWorld } from '../../../src/app/composition/ops-use-cases.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { WorldDatabase, WorldDb } from '../../../src/platform/database/tables.ts';
import type { ReconcileSummary } from '../../../src/reconciliation/payment-rules.ts';
import type { Books } from '../world/books.ts';
import { databaseEngine } from '../world/database-engine.ts';
import { NO_LIMITS, PRICE_LIMITS, purchaseInput } from '../money/facts.ts';

export const PASSWORD = 'correct horse battery staple';

/**
 * A person with a role; `NEW`: an administrator who must choose a password first; `OTHER`: one who has not
 * signed in.
 */
type Who = Role | 'NEW' | 'OTHER' | 'ASKER';
const ALL_PEOPLE: readonly Who[] = [...ROLES, 'NEW', 'OTHER', 'ASKER'];
export const personOf = (who: Who): string =>
  makeId('user', ALL_PEOPLE.indexOf(who).toString(16).padStart(32, '0'));
export const NO_PERSON = `user-${'f'.repeat(32)}`;
/** As better-auth would sign it. */
export const tokenOf = (who: Who): string => `ops_${sessionOf(who)}${signatureOf(who, 'base64url')}`;
export const cookieOf = (who: Who): string =>
  `simway_session=${encodeURIComponent(`${sessionOf(who)}.${signatureOf(who, 'base64')}`)}`;
const signatureOf = (who: Who, encoding: 'base64' | 'base64url'): string =>
  createHmac('sha256', signingSecret(SECRET)).update(sessionOf(who)).digest(encoding);
const sessionOf = (who: Who): string => who.padEnd(32, '0');
const SECRET = Buffer.alloc(32, 7);

/** Above USD 20.00 an action needs a second person. */
const LIMITS: ApprovalLimits = { ...NO_LIMITS, perAction: { USD: 2_000n } };
/** How long a caller waits for a reconciliation that does not end. */
const RECONCILE_WITHIN_MS = 50;

const clock = { now: () => new Date() };

export type TestOperators = ReturnType<typeof openOperators>;

export function openOperators(
  books: Books,
  { live = false, configuredRates = { NGN: '1534.25' } }: OperatorOptions = {},
) {
  const calls: string[] = [];
  const state = { isEngineAway: false };
  const passwords = createPasswords({ cost: { logN: 5, r: 8, p: 1 } });
  const publicUrl = 'http://127.0.0.1:3000';
  const [onError, nothing] = [() => undefined, () => undefined];
  const db = books.accounts;
  const auth = createAuth({ db, clock, passwords, secret: SECRET, publicUrl, issuer: 'Simway', onError });
  const deps = {
    ...{ db, clock, passwords, auth, publicUrl, environments: [], sendMail: nothing },
    sendMailLater: () => Promise.resolve(undefined),
    mailStops: createMailStops({ idSecret: SECRET, publicUrl }),
    events: {
      personLockedOut: nothing,
      signInRefused: nothing,
      mailsStopped: nothing,
      accessRemoved: nothing,
    },
  };
  const sessions = bindAll(deps, sessionUseCases);
  const people = bindAll(deps, peopleUseCases);
  const worldOn = (environment: Environment, db: WorldDb): OpsWorld => {
    const { timings } = purchaseInput({ transactionId: '' });
    const engines = createEngines(db, state);
    const world = createOpsWorld({
      ...createOpsDeps({
        environment,
        db,
        clock,
        timings,
        approvalLimits: LIMITS,
        priceLimits: PRICE_LIMITS,
        balanceLimits: { lowHours: 72, criticalHours: 24, minimumUsdE4: 0n },
        engines,
      }),
      alerting,
      accounts: books.accounts,
      configuredRates,
      events: { accessRemoved: nothing },
      reconcileWithinMs: RECONCILE_WITHIN_MS,
    });
    const noted = <Cases extends object>(cases: Cases): Cases =>
      watched(cases, (name) => calls.push(`${environment} ${name}`));
    return {
      operations: noted(world.operations),
      pricing: noted(world.pricing),
      billing: noted(world.billing),
      alerts: noted(world.alerts),
      reconciliation: noted(world.reconciliation),
    };
  };
  const liveDb = live ? openLive(books.url) : undefined;
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
    /** Names of the use cases called since the last reset; `<environment> <name>` in an environment. */
    calls,
    get isEngineAway() {
      return state.isEngineAway;
    },
    /** Whether Temporal can be reached. */
    set isEngineAway(isAway: boolean) {
      state.isEngineAway = isAway;
    },
    /** `<role> <subject>` of what was refused for a role, as in the audit log since the last reset. */
    refused: async () =>
      (await refusals(refusedBefore)).map(
        ({ subject, detail }) => `${(detail as { role: string }).role} ${subject}`,
      ),
    /** Whether no use case was called since the last reset. Only refusals are new then, which it forgets. */
    forgetIfUntouched: async () => {
      if (calls.length > 0 || state.isEngineAway) return false;
      refusedBefore = (await refusals(refusedBefore)).at(-1)?.id ?? refusedBefore;
      return true;
    },
    /** All people in their original state, signed in. */
    reset: async () => {
      calls.length = 0;
      state.isEngineAway = false;
      refusedBefore = (await refusals(refusedBefore)).at(-1)?.id ?? refusedBefore;
      await sql`delete from accounts.device_logins`.execute(books.owner);
      await sql`delete from accounts.access_grants`.execute(books.owner);
      await sql`delete from accounts.operators`.execute(books.owner);
      await sql`delete from accounts.users`.execute(books.owner);
      const passwordHash = await passwords.hash(PASSWORD);
      await Promise.all(ALL_PEOPLE.map((who) => addPerson(books.accounts, who, passwordHash)));
      await Promise.all([addDeviceLogin(books.accounts, WAITS), addDeviceLogin(books.accounts, LET_IN)]);
    },
    close: async () => {
      await liveDb?.destroy();
    },
    // The API checks these on every request.
    sessions: {
      ...watched(sessions, (name) => calls.push(name)),
      ...{ find: sessions.find, authenticate: sessions.authenticate, authorise: sessions.authorise },
      requireConfirmed: sessions.requireConfirmed,
    },
    deviceLogins: watched(
      bindAll({ ...deps, publicUrl: 'http://dashboard.example' }, deviceLoginUseCases),
      (name) => calls.push(name),
    ),
    people: watched(people, (name) => calls.push(name)),
    temporalUi: {
      url: 'http://temporal.example',
      namespaces: { test: 'simway-test', live: live ? 'simway-live' : null },
    },
    worlds: {
      test: worldOn('test', books.world),
      ...(liveDb ? { live: worldOn('live', liveDb) } : {}),
    },
  };
}

interface OperatorOptions {
  readonly live?: boolean;
  readonly configuredRates?: Readonly<Record<string, string>>;
}

const openLive = (url: string): WorldDb =>
  openDatabase<WorldDatabase>({
    ...{ url, schema: 'live', role: 'simway_live', maxConnections: 2 },
    ...{ statementTimeoutMs: 10_000, applicationName: 'simway-tests' },
  });

/** The same use cases, each of which notes its name. */
function watched<Cases extends object>(cases: Cases, note: (name: string) => void): Cases {
  const entries = Object.entries(cases).map(([name, useCase]: [string, unknown]) => [
    name,
    (...args: unknown[]): unknown => {
      note(name);
      return (useCase as (...given: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(entries) as Cases;
}

const ROLE_OF: Partial<Record<Who, Role>> = { NEW: 'ADMIN', OTHER: 'SUPPORT', ASKER: 'FINANCE' };

async function addPerson(db: Books['accounts'], who: Who, passwordHash: string): Promise<void> {
  const [now, later] = [new Date(), new Date(Date.now() + 3_600_000)];
  const id = personOf(who);
  const role = ROLE_OF[who] ?? (who as Role);
  const oneTimeUntil = who === 'NEW' || who === 'OTHER' ? later : null;
  await sql`
    with made as (
      insert into users (id, email, name)
      values (${id}, ${`${who.toLowerCase()}@operator.example`}, ${who})
    ), known as (
      insert into user_credentials (id, account_id, provider_id, user_id, password)
      values (${id}, ${id}, 'credential', ${id}, ${passwordHash})
    ) insert into operators (user_id, role, one_time_until, second_factor_waived)
      values (${id}, ${role}, ${oneTimeUntil}, true)`.execute(db);
  if (who === 'OTHER')
    await sql`insert into sign_in_failures (user_id, place, locked_until) values (${id}, 'x', ${later})`.execute(
      db,
    );
  if (who === 'OTHER')
    return recordAccess(db, { id, role, email: 'other@operator.example' }, unconfirmedAccess(now));
  await sql`
    insert into user_sessions (id, token, user_id, user_agent, expires_at)
    values (${id}, ${sessionOf(who)}, ${id}, 'program', ${new Date(now.getTime() + SESSION_IDLE_MS)})`.execute(
    db,
  );
}

/** Two commands that ask to be signed in; a person of finance let the second one in. */
export const WAITS = { deviceCode: 'device-waits', userCode: 'BCDF-GHJK', isLetIn: false };
export const LET_IN = { deviceCode: 'device-let-in', userCode: 'KJHG-FDCB', isLetIn: true };

/** What operators ask outside. */
const alerting = {
  supplier: { name: 'esim-access', balance: () => Promise.resolve(12_505_000n) },
  urlGuard: createUrlGuard({
    policy: { httpsOnly: true, allowedRanges: [] },
    network: createNetwork(),
    clock: { now: () => new Date() },
  }),
  secretBox: createSecretBox({ key: 'a'.repeat(64), previousKeys: [] }),
} as const;

async function addDeviceLogin(
  db: Books['accounts'],
  { deviceCode, userCode, isLetIn }: typeof WAITS,
): Promise<void> {
  const [now, expiresAt] = [new Date(), new Date(Date.now() + 600_000)];
  const deviceSha256 = hash('sha256', deviceCode, 'buffer');
  const codeSha256 = hash('sha256', userCode.replace('-', ''), 'buffer');
  await insertDeviceLogin(db, {
    ...{ device_sha256: deviceSha256, code_sha256: codeSha256, machine: 'adas-laptop', address: '127.0.0.1' },
    ...{ created_at: now, expires_at: expiresAt },
  });
  if (isLetIn)
    await approveDeviceLogin(db, deviceSha256, {
      approved_by: personOf('FINANCE'),
      session_until: expiresAt,
    });
}

const unconfirmedAccess = (now: Date) => ({
  given_by: 'giver@operator.example',
  given_at: now,
  second_half: 'CCCCC-DDDDD',
});

type Engines = Parameters<typeof createOpsDeps>[0]['engines'];

function createEngines(db: WorldDb, state: { readonly isEngineAway: boolean }): Engines {
  const noPurchases = () => Promise.reject(new Error('operators buy nothing here'));
  return {
    workflows: {
      findUncarried: () => Promise.resolve(new Set<string>()),
      ofTransaction: (workflowId) =>
        Promise.resolve([
          {
            ...{ workflowId, type: 'purchase', status: 'RUNNING', startedAt: new Date(), closedAt: null },
            ...{ historyEvents: 20, needsAttention: true, reason: null },
          },
        ]),
    },
    operator: databaseEngine(db, clock, () => {
      if (state.isEngineAway) throw new EngineUnavailable('no test reaches Temporal here');
    }),
    purchases: {
      ...{ purchase: noPurchases, fundWallet: noPurchases, firstAnswer: noPurchases },
      ...{ check: () => Promise.resolve(), checkSoon: () => Promise.resolve() },
      supplierAnnounced: () => Promise.resolve(),
    },
    reconcile: { reconcile: ({ range }) => reconciled(range) },
    jobs: { begin: () => Promise.resolve() },
  };
}

/**
 * Runs in the workers, which have the vendors: at once, except over a range. In 2001 there was nothing to
 * compare.
 */
function reconciled(range: { readonly from: Date } | undefined): Promise<ReconcileSummary | null> {
  if (range?.from.getUTCFullYear() === 2001) return Promise.resolve(null);
  if (range) return new Promise(() => undefined);
  const at = new Date().toISOString();
  return Promise.resolve({
    ...{ runId: '7', from: at, to: at, compared: { charges: 3 }, opened: 1, closed: 0 },
    open: [{ kind: 'amount-differs', count: 1 }],
  });
}
