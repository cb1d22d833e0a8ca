// A merchant in a test: buys, tops up and reads through the API, and checks rows, workflows and the
// supplier's books. Must not write anything except through the API.
import type { Selectable } from 'kysely';
import type { PurchasesTable } from '../../../src/purchases/store/tables.ts';
import type { AccountOptions, Answer, Stack } from '../world/stack.ts';
import { until, type UntilOptions } from '../time/until.ts';

export type PurchaseRow = Selectable<PurchasesTable>;

interface BuyOptions {
  readonly idempotencyKey?: string;
  /** TOPUP of this eSIM; BASE without. */
  readonly esimId?: string;
}

export type Buyer = Awaited<ReturnType<typeof newBuyer>>;

/** A new funded account that buys on this stack. */
export async function newBuyer(stack: Stack, options: AccountOptions = {}) {
  const account = await stack.account(options);
  const key = account.apiKey;
  const buy = (packageCode: string, { idempotencyKey, esimId }: BuyOptions = {}): Promise<Answer> =>
    stack.call('POST', '/api/esim/buy', {
      key,
      body: {
        packageCode,
        paymentMethod: 'WALLET',
        ...(esimId === undefined ? { packageType: 'BASE' } : { packageType: 'TOPUP', esimId }),
      },
      ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
    });
  return {
    account,
    buy,
    read: (path: string) => stack.call('GET', path, { key }),
    /** Spendable money in minor units. */
    balanceMinor: async () => {
      const { balance_minor } = await stack.owner
        .selectFrom('wallets')
        .select('balance_minor')
        .where('account_id', '=', account.accountId)
        .executeTakeFirstOrThrow();
      return BigInt(String(balance_minor));
    },
    /** This account's purchases, oldest first. */
    purchases: () =>
      stack.owner
        .selectFrom('purchases')
        .selectAll()
        .where('account_id', '=', account.accountId)
        .orderBy('created_at')
        .execute(),
    /** An eSIM that is in use at the supplier, so that it can be topped up. */
    activeEsim: async (packageCode: string = 'SIM-OK') => {
      const { body, text } = await buy(packageCode);
      if (body.status !== 'SUCCESS' && body.status !== 'PROCESSING')
        throw new Error(`no eSIM to top up: ${text}`);
      const delivered = await until(
        () => stack.call('GET', `/api/esim/transactions/${body.transactionId}`, { key }),
        (answer) => answer.body.status === 'SUCCESS',
        { what: 'an eSIM to top up' },
      );
      const { esimId, iccid } = delivered.body.esimDetails;
      await putInUse(stack, iccid);
      return { esimId, iccid, transactionId: body.transactionId };
    },
  };
}

/** Also where no eSIM goes into use by itself. */
async function putInUse(stack: Stack, iccid: string): Promise<void> {
  const answer = await fetch(`${stack.supplierControlUrl}/esims/${iccid}`, {
    method: 'PUT',
    body: JSON.stringify({ esimStatus: 'IN_USE' }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

export async function findPurchaseRow(stack: Stack, transactionId: string): Promise<PurchaseRow | undefined> {
  return stack.owner
    .selectFrom('purchases')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst();
}

/** The purchase once it is closed. */
export async function untilClosed(
  stack: Stack,
  transactionId: string,
  options: UntilOptions = {},
): Promise<PurchaseRow> {
  const row = await until(
    () => findPurchaseRow(stack, transactionId),
    (found) => found !== undefined && found.closed_at !== null,
    { what: `${transactionId} closed`, ...options },
  );
  return row!;
}

/** The hold of a purchase, in its current state. */
export async function holdOf(stack: Stack, transactionId: string): Promise<string | undefined> {
  const row = await stack.owner
    .selectFrom('holds')
    .select('status')
    .where('id', '=', transactionId)
    .executeTakeFirst();
  return row?.status;
}

/** The timeline of a purchase, oldest first. */
export async function timelineOf(stack: Stack, transactionId: string): Promise<string[]> {
  const rows = await stack.owner
    .selectFrom('purchase_events')
    .select('what')
    .where('transaction_id', '=', transactionId)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.what);
}
