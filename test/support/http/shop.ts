/**
 * The service behind HTTP without Temporal and without vendors: the real use cases on a real Postgres, whose
 * engine and vendors are small fakes. All shops of a process share one database and its catalogue; each has
 * accounts, keys and environments of its own.
 */
import { createHash, randomBytes } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { createAuthenticator } from '../../../src/accounts/keys/authenticate.ts';
import type { KeyBudget } from '../../../src/accounts/keys/budget-rules.ts';
import { replaceBudget } from '../../../src/accounts/store/budgets.ts';
import { insertAccount } from '../../../src/accounts/store/accounts.ts';
import { createCatalogueMemory } from '../../../src/catalogue/memory.ts';
import { replaceCatalogue } from '../../../src/catalogue/store/catalogue.ts';
import { findPricingSettings, insertPricingSettings } from '../../../src/catalogue/store/pricing-settings.ts';
import { insertRates } from '../../../src/catalogue/store/rates.ts';
import { bumpRevision } from '../../../src/catalogue/store/revisions.ts';
import { READS_ALL, type Account, type Environment, type Principal } from '../../../src/domain/account.ts';
import { ensureWallet, transfer, walletAccount } from '../../../src/ledger/store/ledger.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type {
  AccountsDatabase,
  AccountsDb,
  WorldDatabase,
  WorldDb,
} from '../../../src/platform/database/tables.ts';
import type { UseCases, WorldUseCases } from '../../../src/app/composition/use-cases.ts';
import { createWorldUseCases } from '../../../src/app/composition/world-use-cases.ts';
import { MAX_EMAILS_A_DAY } from '../../../src/purchases/batches/rules.ts';
import { DEFAULT_UNPAID_LIMITS } from '../../../src/payments/rules.ts';
import { requireRanges } from '../../../src/platform/client-addresses.ts';
import { createUrlGuard } from '../../../src/platform/outbound/url-guard.ts';
import { createReturnKeys } from '../../../src/payments/return-keys.ts';
import { createTermsSigner } from '../../../src/platform/frozen-terms.ts';
import { createSecretBox } from '../../../src/platform/secret-box.ts';
import { createEvents, type EventLog, type Events } from '../../../src/platform/telemetry/events.ts';
import type { Metrics } from '../../../src/platform/telemetry/metrics.ts';
import { installUrl } from '../../../src/esims/install-links.ts';
import { createInstallTokens } from '../../../src/esims/install-tokens.ts';
import { completeBodies } from '../../../src/esims/message-bodies.ts';
import { readEvent } from '../../../src/vendors/esim-access/webhook.ts';
import { createTestDatabase, openSchema } from '../world/database.ts';
import { installDataWith } from '../vendors/install-data.ts';
import { PRICE_LIMITS, purchaseInput } from '../money/facts.ts';
import { createTestEngine, type TestEngine } from './engine.ts';
import { baseItem, NOW, regionItems, regions } from './packages.ts';
import {
  createTestGateway,
  createTestSandbox,
  createTestSupplier,
  createTestVendors,
  type TestVendors,
} from './vendors.ts';

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type TestWorld = { readonly [Group in keyof WorldUseCases]: Mutable<WorldUseCases[Group]> };
/** The use cases of all nouns, by name. */
type EachCase = TestWorld['catalogue'] &
  TestWorld['esims'] &
  TestWorld['wallet'] &
  TestWorld['payments'] &
  TestWorld['purchases'];

export interface TestShop {
  readonly useCases: Omit<UseCases, 'worlds'> & {
    readonly worlds: { readonly test: TestWorld; readonly live?: TestWorld };
  };
  /** The test environment's database under the service's role. */
  readonly db: WorldDb;
  /** The same as its owner, who may write anything. */
  readonly owner: Kysely<WorldDatabase>;
  readonly engine: TestEngine;
  /** The public link of an eSIM of the test environment, at https://shop.example. */
  installUrl(esimId: string): Promise<string>;
  readonly vendors: TestVendors;
  /**
   * Calls of environment use cases, by name, to assert that none was called; reads of stored answers left
   * out.
   */
  readonly calls: string[];
  /** Thrown by the next environment call instead of an answer. */
  failNext: Error | undefined;
  /** The addresses that may use the key "list". */
  allowedAddresses: readonly string[];
  /** The account id behind a key's name. */
  accountId(name?: string): string;
  /** Makes an account without a key, such as a session’s, with money in its wallet. */
  addAccount(id: string): Promise<void>;
  /** What the key may spend in the test environment; limits that are left out do not exist. */
  giveBudget(name: string, limits: Partial<KeyBudget>): Promise<void>;
  /** Sets the balance of the wallet behind a key, in minor units. */
  setBalance(amountMinor: bigint, name?: string): Promise<void>;
  balance(name?: string): Promise<bigint>;
  purchases(name?: string): Promise<number>;
  /** What is stored under this account's idempotency keys. */
  storedAnswers(name?: string): Promise<StoredKey[]>;
  /** Replaces a use case by an answer, where real rows would take minutes to get there. */
  replace<Name extends keyof EachCase>(environment: Environment, name: Name, useCase: EachCase[Name]): void;
  /** As while the first request with this key is still running. */
  forgetAnswer(key: string): Promise<void>;
  /** As when every message to this account has ended. */
  closeMessages(status: 'DELIVERED' | 'FAILED', id?: string): Promise<void>;
  /** As after a change of prices: caches of the catalogue are outdated. */
  changePrices(): Promise<void>;
  /** As after a change of what can be delivered. */
  changeAvailability(): Promise<void>;
}

interface StoredKey {
  readonly key: string;
  readonly path: string;
  readonly fingerprint: string;
  readonly answer_status: number | null;
}

/** Keys by name: they are passed on unchanged, so any text in the form of a key is enough. */
export function keyOf(environment: Environment, name: string): string {
  return `simway_${environment}_${name.padEnd(38, '0')}`;
}

const NO_LIMIT: KeyBudget = {
  dailyAmountMinor: null,
  orderAmountMinor: null,
  maxPriceMinor: null,
  maxPurchases: null,
  countries: null,
};

type Databases = Awaited<ReturnType<typeof openDatabases>>;
let shared: Promise<Databases> | undefined;

async function openDatabases() {
  const { url } = await createTestDatabase();
  const given = { url, maxConnections: 6, statementTimeoutMs: 10_000, applicationName: 'simway-tests' };
  const openWorld = async (schema: Environment) => {
    const db = openDatabase<WorldDatabase>({ ...given, schema, role: `simway_${schema}` });
    const owner = openSchema<WorldDatabase>(url, schema);
    await replaceCatalogue(
      owner,
      { supplier: 'esim-access', regions, packages: [...regionItems, baseItem] },
      NOW,
    );
    const rate = { source: 'fixed', observedAt: new Date(), status: 'GOOD' } as const;
    await insertRates(owner, [
      { ...rate, currency: 'NGN', micros: 1_534_250_000n },
      { ...rate, currency: 'GHS', micros: 15_342_500n },
    ]);
    const before = await findPricingSettings(owner);
    await insertPricingSettings(
      owner,
      {
        id: 'tests',
        userMarkupBps: 2_500,
        merchantMarkupBps: 2_500,
        ngnIncrementBps: 0,
        by: 'a test',
        reason: 'a test',
        confirmedBy: null,
      },
      before,
    );
    const catalogue = createCatalogueMemory({
      db,
      onError: (error) => {
        throw error;
      },
    });
    await catalogue.refresh();
    return { db, owner, catalogue };
  };
  const accounts = openDatabase<AccountsDatabase>({
    ...given,
    schema: 'accounts',
    role: 'simway_accounts',
  });
  return {
    accounts,
    // For keys that are in no shop. It has room for 20,000 keys, which takes longer to make than most tests
    // take.
    authenticator: createAuthenticator({
      db: accounts,
      pollDb: accounts,
      clock: { now: () => new Date() },
      brand: 'simway',
      onError: () => undefined,
    }),
    test: await openWorld('test'),
    live: await openWorld('live'),
  };
}

export async function openShop({
  live = false,
  log,
  metrics,
}: {
  readonly live?: boolean;
  readonly log: EventLog;
  /** Counts the events of the environments. */
  readonly metrics: Metrics;
}): Promise<TestShop> {
  shared ??= openDatabases();
  const databases = await shared;
  const people = createPeople(databases);
  const vendors = createTestVendors();
  const calls: string[] = [];
  const withList = (rawKey: string, principal: Principal): Principal =>
    rawKey === keyOf('test', 'list') ? { ...principal, allowedAddresses: shop.allowedAddresses } : principal;
  const eventsOf = (environment: Environment) => createEvents(log, metrics.world(environment));
  const test = createWorld('test', databases, vendors, eventsOf('test'));
  const shop: TestShop = {
    calls,
    vendors,
    db: databases.test.db,
    owner: databases.test.owner,
    engine: test.engine,
    installUrl: test.installUrl,
    failNext: undefined,
    allowedAddresses: [],
    useCases: {
      accounts: {
        authenticate: async (rawKey, beforeKeyLookup) =>
          withList(rawKey, await people.authenticate(rawKey, beforeKeyLookup)),
      },
      worlds: {
        test: watched(test.useCases, () => shop),
        ...(live
          ? { live: watched(createWorld('live', databases, vendors, eventsOf('live')).useCases, () => shop) }
          : {}),
      },
    },
    accountId: people.accountId,
    addAccount: people.addAccount,
    giveBudget: async (name, limits) => {
      const key = { keyId: people.keyId(name), accountId: people.accountId(name), changedBy: 'a test' };
      await replaceBudget(databases.test.db, key, { ...NO_LIMIT, ...limits });
    },
    setBalance: async (amountMinor, name = 'ngn') => {
      const { account } = await people.authenticate(keyOf('test', name));
      await putIntoWallet(databases.test.db, account, amountMinor - (await shop.balance(name)));
    },
    balance: async (name = 'ngn') => {
      await people.authenticate(keyOf('test', name));
      const row = await databases.test.db
        .selectFrom('wallets')
        .select('balance_minor')
        .where('account_id', '=', people.accountId(name))
        .executeTakeFirstOrThrow();
      return row.balance_minor;
    },
    purchases: async (name) => {
      const rows = await databases.test.db
        .selectFrom('purchases')
        .select('transaction_id')
        .where('account_id', '=', people.accountId(name))
        .execute();
      return rows.length;
    },
    storedAnswers: async (name) => {
      const rows = await databases.test.db
        .selectFrom('idempotency_keys')
        .selectAll()
        .where('account_id', '=', people.accountId(name))
        .execute();
      return rows;
    },
    replace: (environment, name, useCase) => {
      const groups = Object.values(shop.useCases.worlds[environment] ?? {});
      const group = groups.find((cases) => typeof cases === 'object' && name in cases);
      Object.assign(
        group ?? {},
        watchedGroup({ [name]: useCase }, () => shop),
      );
    },
    forgetAnswer: async (key) => {
      await databases.test.owner
        .updateTable('idempotency_keys')
        .set({ answer_status: null, answer_body: null })
        .where('account_id', '=', people.accountId())
        .where('key', '=', key)
        .execute();
    },
    closeMessages: async (status, id) => {
      let closing = databases.test.owner
        .updateTable('webhook_messages')
        .set({ status, attempts: 1, next_attempt_at: null, closed_at: new Date() })
        .where('account_id', '=', people.accountId());
      if (id !== undefined) closing = closing.where('id', '=', id);
      await closing.execute();
    },
    changePrices: async () => {
      await sql`update revisions set revision = revision + 1 where name = 'pricing'`.execute(
        databases.test.owner,
      );
      await databases.test.catalogue.refresh();
    },
    changeAvailability: async () => {
      await bumpRevision(databases.test.owner, 'availability');
      await databases.test.catalogue.refresh();
    },
  };
  return shop;
}

/** The same use cases, which record their calls and throw what the test wants thrown. */
function watched(world: WorldUseCases, shopOf: () => TestShop): WorldUseCases {
  const groups = Object.entries(world).map(([group, cases]) => [
    group,
    typeof cases === 'object' ? watchedGroup(cases, shopOf) : cases,
  ]);
  return Object.fromEntries(groups) as WorldUseCases;
}

function watchedGroup(cases: object, shopOf: () => TestShop): object {
  const silent = new Set(['catalogueRevision', 'priceRevision', 'findStoredAnswer', 'mayBeGatewayEvent']);
  const entries = Object.entries(cases).map(([name, useCase]: [string, unknown]) => {
    if (silent.has(name)) return [name, useCase];
    const call = (...args: unknown[]): unknown => {
      const shop = shopOf();
      shop.calls.push(name);
      const error = shop.failNext;
      shop.failNext = undefined;
      if (error) return Promise.reject(error);
      return (useCase as (...args: unknown[]) => unknown)(...args);
    };
    return [name, call];
  });
  return Object.fromEntries(entries) as object;
}

function createWorld(environment: Environment, databases: Databases, vendors: TestVendors, events: Events) {
  const { db, catalogue } = databases[environment];
  const clock = { now: () => new Date() };
  const idSecret = randomBytes(32);
  const given = {
    db,
    accounts: databases.accounts,
    clock,
    supplier: createTestSupplier(vendors),
    installData: installDataWith(),
    installTokens: createInstallTokens({ idSecret, environment, publicUrl: 'https://shop.example' }),
    gateway: createTestGateway(environment, vendors),
    events,
    terms: createTermsSigner(idSecret, environment),
    returnKeys: createReturnKeys({ idSecret, environment }),
    secretBox: createSecretBox({ key: '0'.repeat(64), previousKeys: [] }),
  };
  const engine = createTestEngine({ ...given, environment });
  const useCases = createWorldUseCases({
    ...given,
    environment,
    sandboxSupplier: environment === 'test' ? createTestSandbox(vendors) : undefined,
    engine,
    // Batches are accepted and read here; tests of the steps carry them out.
    jobEngine: { begin: () => Promise.resolve() },
    turns: { take: () => Promise.resolve(() => undefined) },
    returnEngine: engine.returns,
    replacementEngine: engine.replacements,
    supplierEvents: {
      source: { name: 'esim-access', readEvent },
      isSender: (address) => requireRanges(vendors.supplierAddresses)(address),
    },
    completeBodies: (bodies, reader) => completeBodies(given, bodies, reader),
    urlGuard: createUrlGuard({
      policy: { httpsOnly: false, allowedRanges: ['127.0.0.0/8', '::1'] },
      clock,
      network: {
        resolve: () => Promise.resolve(['93.184.216.34']),
        connect: () => {
          throw new Error('HTTP tests connect to nothing');
        },
      },
    }),
    catalogue,
    settings: {
      timings: purchaseInput({ transactionId: '' }).timings,
      esimFreshMs: 3_600_000,
      topUpsFreshMs: 3_600_000,
      closedPaymentFreshMs: 60_000,
      rateMaxAgeMs: 3_600_000,
      priceLimits: PRICE_LIMITS,
      mobileMoneyCurrency: 'GHS',
      unpaidLimits: DEFAULT_UNPAID_LIMITS,
      returns: { isAllowed: true, windowDays: 30, feeBps: 0 },
      replacements: { isAllowed: true, windowDays: 30, shareBps: 5_000, maxCount: 1 },
      travellerEmails: {
        get isAvailable() {
          return vendors.sendsEmails;
        },
        maxADay: MAX_EMAILS_A_DAY.test,
      },
    },
    idSecret,
  });
  return { useCases, engine, installUrl: (esimId: string) => installUrl(given, esimId, READS_ALL) };
}

const START_MINOR = 5_000_000n;

/** The accounts behind the keys' names, each made at its first use. */
function createPeople(databases: Databases) {
  const suffix = randomBytes(15).toString('hex');
  const owners = new Map(
    (['ngn', 'usd', 'slow', 'usduser'] as const).map((name, index) => [
      name,
      accountOf(name, `acc-0${index}${suffix}`),
    ]),
  );
  const ownerOf = (name: string): Account => owners.get(name as 'ngn') ?? owners.get('ngn')!;
  const changes: Readonly<Record<string, Partial<Principal>>> = {
    readonly: { scopes: ['read'] },
    buyonly: { scopes: ['purchase'] },
    noinstall: { mayInstall: false },
    elsewhere: { allowedAddresses: ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32'] },
  };
  const known = new Map<string, Principal>();
  const names = ['ngn', 'usd', 'usduser', 'slow', 'readonly', 'buyonly', 'noinstall', 'elsewhere', 'list'];
  const keyIdOf = (name: string): string => `key-0${names.indexOf(name)}${suffix}`;
  const add = (environment: Environment, name: string): void => {
    known.set(keyOf(environment, name), {
      account: ownerOf(name),
      keyId: keyIdOf(name),
      maker: 'ada@merchant.example',
      environment,
      scopes: ['read', 'purchase', 'fund'],
      mayInstall: true,
      allowedAddresses: ['0.0.0.0/0', '::/0'],
      ...changes[name],
    });
  };
  for (const name of names) add('test', name);
  add('live', 'ngn');
  const made = new Map<string, Promise<void>>();
  const make = async (account: Account): Promise<void> => {
    await insertAccount(databases.accounts, {
      ...account,
      enterpriseRequestsPerMinute: account.plan === 'ENTERPRISE' ? account.requestsPerMinute : null,
    });
    for (const { db } of [databases.test, databases.live]) {
      await ensureWallet(db, account.id, account.currency);
      await putIntoWallet(db, account, START_MINOR);
    }
  };
  return {
    accountId: (name = 'ngn') => ownerOf(name).id,
    keyId: keyIdOf,
    addAccount: (id: string) => make(accountOf('usd', id)),
    authenticate: async (rawKey: string, beforeKeyLookup?: () => Promise<void>): Promise<Principal> => {
      const principal = known.get(rawKey);
      if (!principal) return databases.authenticator.authenticate(rawKey, beforeKeyLookup);
      const { account, keyId } = principal;
      if (!made.has(account.id)) made.set(account.id, make(account));
      await made.get(account.id);
      if (!made.has(keyId)) made.set(keyId, makeKey(databases.accounts, principal));
      await made.get(keyId);
      return principal;
    },
  };
}

async function putIntoWallet(db: WorldDb, { id, currency }: Account, amountMinor: bigint): Promise<void> {
  if (amountMinor === 0n) return;
  await transfer(db, {
    operationKey: `test:${randomBytes(8).toString('hex')}`,
    kind: 'fund',
    reason: 'a test',
    entries: [
      { account: `funding:${currency}`, currency, amountMinor: -amountMinor },
      { account: walletAccount(id), currency, amountMinor },
    ],
  });
}

function accountOf(name: 'ngn' | 'usd' | 'slow' | 'usduser', id: string): Account {
  return {
    id,
    type: name === 'usd' ? 'MERCHANT' : 'USER',
    name,
    email: `${name}@example.com`,
    currency: name.startsWith('usd') ? 'USD' : 'NGN',
    plan: name === 'slow' ? 'STANDARD' : 'ENTERPRISE',
    requestsPerMinute: name === 'slow' ? 5 : 1_000_000,
  };
}

/** As `isId` knows it; nothing authenticates by this row. */
async function makeKey(
  accounts: AccountsDb,
  { keyId, account, environment, scopes }: Principal,
): Promise<void> {
  await accounts
    .insertInto('api_keys')
    .values({
      ...{ id: keyId, account_id: account.id, environment, scopes: [...scopes] },
      ...{ key_sha256: createHash('sha256').update(keyId).digest(), display_prefix: '', last_four: '0000' },
      ...{ allowed_addresses: ['0.0.0.0/0'], company_name: '', website_url: '', created_by: 'a test' },
    })
    .execute();
}
