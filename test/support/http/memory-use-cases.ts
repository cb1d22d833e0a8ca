/**
 * Use cases kept in memory: enough of a shop to test the HTTP door alone. It holds state (wallet, eSIMs, stored answers), so replays
 * and reads agree with what was bought. The same door runs on the real thing in other rooms.
 */
import { fillPlaceholders } from '../../../src/purchases/install-secrets.ts';
import type { Environment, Principal } from '../../../src/domain/account.ts';
import type { CataloguePackage } from '../../../src/catalogue/rules.ts';
import { snapshotOf } from '../../../src/catalogue/rules.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { makeId } from '../../../src/domain/ids.ts';
import type { UseCases, WorldUseCases } from '../../../src/platform/composition/use-cases.ts';
import { account, baseItem, NOW, regionViews, topUpItem } from './goods.ts';
import { createMemoryPayments, openPayment, paymentVerbs, type PaymentShop } from './memory-payments.ts';
import { createMemoryWebhooks, webhookVerbs, type MemoryWebhooks } from './memory-webhooks.ts';
import type { PricedPackage } from '../../../src/catalogue/views.ts';
import type { PurchaseView, BuyCommand } from '../../../src/purchases/views.ts';
import type { EsimView } from '../../../src/esims/esim-view.ts';

export const USD_PER_NGN_RATE = '1534.25';

/** Keys by name: the door hands them over as they came, so any text that looks like one will do. */
export function keyOf(environment: Environment, name: string): string {
  return `simway_${environment}_${name.padEnd(38, '0')}`;
}

export interface MemoryShop extends PaymentShop {
  readonly useCases: UseCases;
  readonly webhooks: MemoryWebhooks;
  /** Calls of world use cases, by name, for "not even asked" assertions. */
  readonly calls: string[];
  /** Minor units in every wallet. */
  balanceMinor: bigint;
  revision: number;
  /** Thrown by the next world call instead of an answer. */
  failNext: Error | undefined;
  /** Where the key "list" may be used from. */
  allowedAddresses: readonly string[];
  /** What buy answers with, where the wallet pays. */
  nextStatus: PurchaseView['status'];
}

const ALL_SCOPES = ['read', 'purchase'] as const;

/** Principals by key name. */
function principals(): Map<string, Principal> {
  const make = (
    environment: Environment,
    name: string,
    changes: Partial<Principal> & { readonly owner?: Principal['account'] } = {},
  ): [string, Principal] => {
    const { owner = account('ngn'), ...rest } = changes;
    const principal = {
      account: owner,
      keyId: `key-${name}`,
      environment,
      scopes: ALL_SCOPES,
      allowedAddresses: ['0.0.0.0/0', '::/0'],
      ...rest,
    };
    return [keyOf(environment, name), principal];
  };
  return new Map([
    make('test', 'ngn'),
    make('test', 'usd', { owner: account('usd') }),
    make('test', 'usduser', { owner: account('usduser') }),
    make('test', 'slow', { owner: account('slow') }),
    make('test', 'readonly', { scopes: ['read'] }),
    make('test', 'buyonly', { scopes: ['purchase'] }),
    make('test', 'elsewhere', { allowedAddresses: ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32'] }),
    make('test', 'list'),
    make('live', 'ngn'),
  ]);
}

export function createMemoryShop(options: { readonly live?: boolean } = {}): MemoryShop {
  const known = principals();
  const shop: MemoryShop = {
    calls: [],
    purchases: [],
    payments: createMemoryPayments(),
    webhooks: createMemoryWebhooks(),
    answers: new Map(),
    balanceMinor: 5_000_000n,
    revision: 1,
    failNext: undefined,
    allowedAddresses: [],
    nextStatus: 'SUCCESS',
    useCases: {
      accounts: {
        authenticate: (rawKey) => {
          const principal = known.get(rawKey);
          if (!principal)
            return Promise.reject(new DomainError('INVALID_TOKEN', 'The API key is invalid or expired'));
          const isList = rawKey === keyOf('test', 'list');
          return Promise.resolve(
            isList ? { ...principal, allowedAddresses: shop.allowedAddresses } : principal,
          );
        },
      },
      worlds: {
        test: createWorld('test', () => shop),
        ...(options.live === true ? { live: createWorld('live', () => shop) } : {}),
      },
    },
  };
  return shop;
}

function createWorld(environment: Environment, shopOf: () => MemoryShop): WorldUseCases {
  const esims: EsimView[] = [];
  /** Notes the call; throws what the test wants thrown. */
  const begin = (name: string): MemoryShop => {
    const shop = shopOf();
    shop.calls.push(name);
    const error = shop.failNext;
    shop.failNext = undefined;
    if (error) throw error;
    return shop;
  };
  return {
    ...paymentVerbs(environment, begin),
    ...webhookVerbs(environment, begin),
    environment,
    catalogueRevision: () => String(shopOf().revision),
    listRegions: async ({ type }) => {
      begin('listRegions');
      await Promise.resolve();
      return regionViews.filter((one) => type === undefined || (type === 1) === (one.regionType === 'LC'));
    },
    listPackages: async (owner, { regionCode, regionType }) => {
      begin('listPackages');
      await Promise.resolve();
      if (regionCode !== 'NG' || (regionType ?? 'LC') !== 'LC') {
        throw new DomainError('REGION_NOT_FOUND', 'No packages found for this region');
      }
      return [priced(baseItem, owner.currency)];
    },
    listTopUps: async (_owner, { packageCode, currency }) => {
      begin('listTopUps');
      await Promise.resolve();
      return packageCode === baseItem.packageCode ? [priced(topUpItem, currency)] : [];
    },
    getPackage: async (_owner, { packageCode, packageType, currency }) => {
      begin('getPackage');
      await Promise.resolve();
      if (!['USD', 'NGN'].includes(currency)) {
        throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
          details: 'currency: no rate is held',
        });
      }
      const item = packageType === 'TOPUP' ? topUpItem : baseItem;
      if (item.packageCode !== packageCode) throw new DomainError('PACKAGE_NOT_FOUND', 'Package not found');
      return priced(item, currency);
    },
    buy: async (principal, command) => {
      const shop = begin('buy');
      await Promise.resolve();
      return buy(shop, esims, principal, command);
    },
    getTransaction: async (_principal, transactionId) => {
      const shop = begin('getTransaction');
      await Promise.resolve();
      const found = shop.purchases.find((one) => one.transactionId === transactionId);
      const timeline = [{ at: NOW, what: 'Purchase opened' }];
      if (found) return { purchase: { ...found, timeline } };
      const funding = shop.payments.fundings.find((one) => one.transactionId === transactionId);
      if (funding) return { funding: { ...funding, timeline } };
      throw new DomainError('TRANSACTION_NOT_FOUND', 'Transaction not found');
    },
    listEsims: async (principal, query) => {
      begin('listEsims');
      await Promise.resolve();
      const mine = esims.filter((one) => one.accountId === principal.account.id);
      const start = (query.page - 1) * query.limit;
      return { ...query, items: mine.slice(start, start + query.limit), total: mine.length };
    },
    getEsim: async (principal, esimId) => {
      begin('getEsim');
      await Promise.resolve();
      const found = esims.find((one) => one.esimId === esimId);
      if (!found) throw new DomainError('ESIM_NOT_FOUND', 'eSIM not found');
      if (found.accountId !== principal.account.id) {
        throw new DomainError('NOT_YOUR_ESIM', 'This eSIM belongs to another account');
      }
      return found;
    },
    getWallet: async (principal) => {
      const shop = begin('getWallet');
      await Promise.resolve();
      const { currency } = principal.account;
      return { balance: { amountMinor: shop.balanceMinor, currency }, updatedAt: NOW };
    },
    getExchangeRate: async () => {
      begin('getExchangeRate');
      await Promise.resolve();
      return { rate: USD_PER_NGN_RATE, observedAt: NOW, source: 'fixed' };
    },
    findStoredAnswer: async (principal, tag) => {
      await Promise.resolve();
      const kept = shopOf().answers.get(`${principal.account.id} ${tag.key}`);
      if (!kept) return { tag };
      if (kept.tag.fingerprint !== tag.fingerprint || kept.tag.path !== tag.path) {
        throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request');
      }
      if (!kept.answer) throw new DomainError('IDEMPOTENCY_KEY_IN_USE', 'The first request is still running');
      const { answer } = kept;
      return { tag, answer: { ...answer, body: withInstallData(answer.body, esims) } };
    },
    storeAnswer: async (principal, tag, answer) => {
      const shop = begin('storeAnswer');
      await Promise.resolve();
      const kept = shop.answers.get(`${principal.account.id} ${tag.key}`);
      if (kept) kept.answer = answer;
    },
  };
}

function withInstallData(body: string, esims: readonly EsimView[]): string {
  const esim = esims.find(({ esimId }) => body.includes(esimId));
  if (!esim) return body;
  const { ac, matchingId: matching_id, qrCodeUrl: qr_code_url, shortUrl: short_url } = esim;
  return fillPlaceholders(body, { ac, matching_id, qr_code_url, short_url });
}

function priced(item: CataloguePackage, currency: string): PricedPackage {
  const priceUsdMinor = (item.cost * 12_500n) / 1_000_000n;
  const amountMinor = currency === 'NGN' ? (priceUsdMinor * 153_425n) / 100n : priceUsdMinor;
  return { item, price: { amountMinor, currency }, priceUsdMinor };
}

function buy(shop: MemoryShop, esims: EsimView[], principal: Principal, command: BuyCommand): PurchaseView {
  const item = command.packageType === 'BASE' ? baseItem : topUpItem;
  if (command.packageCode !== item.packageCode)
    throw new DomainError('PACKAGE_NOT_FOUND', 'Package not found');
  const { paymentMethod } = command;
  if (paymentMethod === 'MOBILE_MONEY' && principal.account.type === 'MERCHANT') {
    throw new DomainError('PAYMENT_METHOD_UNAVAILABLE', 'MOBILE_MONEY is not available');
  }
  const target = esims.find((one) => one.esimId === command.esimId);
  if (command.packageType === 'TOPUP' && target?.accountId !== principal.account.id) {
    throw new DomainError(target ? 'NOT_YOUR_ESIM' : 'ESIM_NOT_FOUND', 'No such eSIM');
  }
  if (command.idempotency) {
    shop.answers.set(`${principal.account.id} ${command.idempotency.key}`, { tag: command.idempotency });
  }
  const { price } = priced(item, principal.account.currency);
  if (paymentMethod === 'WALLET') {
    if (price.amountMinor > shop.balanceMinor) {
      throw new DomainError('INSUFFICIENT_BALANCE', 'The wallet balance is below the price');
    }
    shop.balanceMinor -= price.amountMinor;
  }
  const transactionId = makeId('transaction', String(shop.purchases.length + 1).padStart(32, '0'));
  const esim = target ?? newEsim(principal, transactionId, price, esims.length + 1);
  if (!target) esims.push(esim);
  const status = paymentMethod === 'WALLET' ? shop.nextStatus : 'PENDING';
  const purchase: PurchaseView = {
    transactionId,
    packageType: command.packageType,
    paymentMethod,
    status,
    reason: status === 'FAILED' ? 'PACKAGE_UNAVAILABLE' : null,
    package: {
      packageCode: item.packageCode,
      packageName: item.name,
      price,
      volumeBytes: item.volumeBytes,
      duration: item.duration,
    },
    esim,
    topUp: target
      ? { iccid: target.iccid, totalVolumeBytes: 6_442_450_944, dataRemainingBytes: 6_000_000_000 }
      : null,
    payment: openPayment(shop, { transactionId, method: paymentMethod, price, owner: principal.account.id }),
    timeline: [],
  };
  shop.purchases.push(purchase);
  return purchase;
}

function newEsim(
  principal: Principal,
  transactionId: string,
  price: EsimView['price'],
  number: number,
): EsimView {
  const serial = String(number).padStart(4, '0');
  return {
    esimId: makeId('esim', String(number).padStart(32, '0')),
    accountId: principal.account.id,
    transactionId,
    packageCode: baseItem.packageCode,
    packageName: baseItem.name,
    status: 'ACTIVE',
    price,
    snapshot: snapshotOf(baseItem),
    orderNo: `B26010109300${serial}`,
    esimTranNo: `26010109300${serial}`,
    iccid: `894430000000000${serial}`,
    imsi: `45400000000${serial}`,
    msisdn: null,
    ac: `LPA:1$rsp.example.com$MATCHING-${serial}`,
    qrCodeUrl: `https://qr.example.com/${serial}.png`,
    shortUrl: `https://qr.example.com/${serial}`,
    smdpAddress: 'rsp.example.com',
    matchingId: `MATCHING-${serial}`,
    pin: '1234',
    puk: null,
    eid: '',
    smdpStatus: 'RELEASED',
    activeType: '2',
    activateTime: NOW,
    expiredTime: null,
    totalVolumeBytes: baseItem.volumeBytes,
    orderUsageBytes: 442_450_944,
    validityDays: 30,
    durationUnit: 'DAY',
    totalDuration: 30,
    validityRemaining: 29,
    apn: 'internet',
    smsStatus: 0,
    dataType: 1,
    createdAt: NOW,
    updatedAt: NOW,
  };
}
