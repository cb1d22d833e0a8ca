import { digestHex } from '../../kit/seeded.ts';
import type { GatewayContext } from '../context.ts';
import type { Payer, TransactionRow, TransferAccount } from '../storage.ts';
import { receive, withMoment } from '../actions/charge.ts';
import { invalid, objectIn, optionalText, requiredText, timeOf, type Params } from '../errors.ts';
import { statusWord, transactionData } from '../present/transaction.ts';
import {
  accountExpiryMs,
  channelsOf,
  MOBILE_MONEY_MS,
  noChannel,
  requireProvider,
  requireTransferable,
  type Currency,
} from '../rules.ts';
import { LATE_EXPIRY_STEPS } from '../scenarios.ts';
import { iso } from '../wire.ts';
import {
  begin,
  requireUnused,
  wantedIn,
  type Wanted,
  requireReference,
  type Operations,
} from './operation.ts';

const MESSAGE = 'Charge attempted';
const GOOD_OTP = '123456';
/** The vendor's test numbers: their owners say yes at once. */
const WILLING_PHONES: readonly string[] = ['0551234987', '254710000000'];

function newAccount(context: GatewayContext, id: number): TransferAccount {
  const digits = BigInt(`0x${digestHex(`account:${context.seed}:${id}`).slice(0, 12)}`) % 10n ** 8n;
  return {
    accountNumber: `99${String(digits).padStart(8, '0')}`,
    accountName: `${context.integration.merchant} / Checkout`,
    bank: { slug: 'sandbox-bank', name: 'Sandbox Bank', id: 24 },
  };
}

function waitingData(row: TransactionRow): Record<string, unknown> {
  const { reference, step, account } = row;
  if (step === 'pending_bank_transfer' && account !== null) {
    const { accountNumber, accountName, bank } = account;
    const kenyan = row.currency === 'KES' ? { amount: row.requested, transaction_reference: reference } : {};
    return {
      reference,
      status: step,
      display_text: 'Please make a transfer to the account specified',
      account_name: accountName,
      account_number: accountNumber,
      bank,
      account_expires_at: iso(row.expiresAtMs ?? row.createdAtMs),
      ...kenyan,
    };
  }
  const display_text =
    step === 'send_otp'
      ? 'Please dial *110# to generate a voucher code. Then input the voucher'
      : 'Please complete authorization process on your mobile phone';
  return { reference, status: step, display_text };
}

/** A direct charge as it stands: what to do while it waits, the whole transaction once it does not. */
function chargeData(context: GatewayContext, row: TransactionRow): Record<string, unknown> {
  if (row.step !== null) {
    const data = waitingData(row);
    return { ...data, status: statusWord(context, row.step) };
  }
  const data = transactionData(context, row);
  // A charge has no `abandoned`: its time is over.
  const isOver = row.origin === 'charge' && row.status === 'abandoned';
  return isOver ? { ...data, status: statusWord(context, 'timeout') } : data;
}

function chargeByTransfer(context: GatewayContext, wanted: Wanted, params: Params): TransactionRow {
  const { currency, requested } = wanted;
  if (!channelsOf(context.integration, currency).includes('bank_transfer')) throw noChannel();
  requireTransferable(requested, currency);
  const wantedMs = timeOf(optionalText(params, 'account_expires_at'), 'account_expires_at') ?? null;
  const nowMs = context.now();
  const expiresAtMs =
    wanted.scenario === 'late'
      ? nowMs + LATE_EXPIRY_STEPS * context.scenarioMs
      : accountExpiryMs(currency, wantedMs, nowMs);
  const row = begin(context, wanted, (id) => ({
    origin: 'charge',
    status: 'ongoing',
    step: 'pending_bank_transfer',
    channel: 'bank_transfer',
    channels: ['bank_transfer'],
    account: newAccount(context, id),
    expiresAtMs,
    openedAtMs: nowMs,
    gatewayResponse: 'Waiting for the transfer',
  }));
  context.plan('expire', row.id, expiresAtMs);
  return row;
}

function payerOf(currency: Currency, params: Params): Payer & { provider: string } {
  const provider = requiredText(params, 'provider').toLowerCase();
  requireProvider(currency, provider);
  const isTill = provider === 'mptill';
  const number = requiredText(params, isTill ? 'account' : 'phone').replaceAll(/[ +-]/g, '');
  if (!/^\d{5,15}$/.test(number)) throw invalid(`${isTill ? 'account' : 'phone'} must be a number`);
  return { provider, phone: number };
}

function chargeByMobileMoney(context: GatewayContext, wanted: Wanted, params: Params): TransactionRow {
  const payer = payerOf(wanted.currency, params);
  const nowMs = context.now();
  const isVoucher = payer.provider === 'vod';
  const row = begin(context, wanted, () => ({
    origin: 'charge',
    status: isVoucher ? 'ongoing' : 'pending',
    step: isVoucher ? 'send_otp' : 'pay_offline',
    channel: 'mobile_money',
    channels: ['mobile_money'],
    payer,
    openedAtMs: nowMs,
    gatewayResponse: 'Waiting for the customer',
  }));
  context.plan('expire', row.id, nowMs + MOBILE_MONEY_MS);
  const isWilling = payer.phone !== undefined && WILLING_PHONES.includes(payer.phone);
  if (isWilling && !isVoucher && row.scenario === null) {
    context.plan('pay', row.id, nowMs + context.scenarioMs);
  }
  return row;
}

export const charges = {
  charge: (context, { body }) => {
    const wanted = wantedIn(context, body, 'Email address is required to create charge');
    const transfer = objectIn(body, 'bank_transfer');
    const mobileMoney = objectIn(body, 'mobile_money');
    if ((transfer === undefined) === (mobileMoney === undefined)) {
      throw invalid('One of bank_transfer or mobile_money must be passed; cards are paid on the hosted page');
    }
    requireUnused(context, wanted.reference);
    const row = context.database.transact(() =>
      transfer === undefined
        ? chargeByMobileMoney(context, wanted, mobileMoney ?? {})
        : chargeByTransfer(context, wanted, transfer),
    );
    return { message: MESSAGE, data: chargeData(context, row) };
  },
  'charge/submit_otp': (context, { body }) => {
    const otp = requiredText(body, 'otp');
    const row = requireReference(context, requiredText(body, 'reference'));
    if (row.step !== 'send_otp') throw invalid('This charge does not wait for an OTP', 'invalid_state');
    if (otp !== GOOD_OTP) {
      const message = 'Provided registration token is invalid';
      context.transactions.put(withMoment(row, 'error', message, context.now()));
      throw invalid(message, 'invalid_otp');
    }
    const paid = context.database.transact(() => receive(context, row, {}));
    return { message: MESSAGE, data: chargeData(context, paid) };
  },
  'charge/check': (context, { id }) => {
    const row = requireReference(context, id);
    const data = chargeData(context, row);
    // While the customer is busy with the phone, only a check says `pending`.
    if (row.step === 'pay_offline') data['status'] = statusWord(context, 'pending');
    return { message: MESSAGE, data };
  },
} satisfies Operations;
