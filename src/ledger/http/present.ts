/** Wallet → the specification's envelope; funding → the external-route fields of a purchase result. Pure. */
import type { z } from 'zod';
import type { AccountCurrency, Money } from '../../domain/money.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import { presentPayment } from '../../payments/http/present.ts';
import type { fundingSchema, fundingStandingSchema, lowBalanceSchema, walletSchema } from './schema.ts';
import type { FundingView } from '../../payments/views.ts';
import type { WalletView } from '../views.ts';
import { presentTimeline } from '../../platform/http/answer-fields.ts';

export function presentWallet(view: WalletView): Wire<z.output<typeof walletSchema>> {
  return {
    success: true,
    data: {
      balance: moneyJson(view.balance.amountMinor),
      currency: view.balance.currency as AccountCurrency,
      lastUpdated: view.updatedAt.toISOString(),
    },
  };
}

/** A funding, as fund answers it. */
export function presentFunding(view: FundingView): Wire<z.output<typeof fundingSchema>> {
  return {
    transactionId: view.transactionId,
    status: view.status,
    amount: moneyJson(view.amount.amountMinor),
    currency: view.amount.currency as AccountCurrency,
    ...presentPayment(view, view.amount),
    ...(view.status === 'FAILED' && view.reason !== null ? { reason: view.reason } : {}),
  };
}

/** The funding as it now stands, with its timeline. */
export function presentFundingStanding(view: FundingView): Wire<z.output<typeof fundingStandingSchema>> {
  return { ...presentFunding(view), timeline: presentTimeline(view.timeline) };
}

/** From when on the wallet counts as low. */
export function presentLowBalance(
  threshold: Money | null,
  currency: AccountCurrency,
): Wire<z.output<typeof lowBalanceSchema>> {
  return { amount: threshold && moneyJson(threshold.amountMinor), currency };
}
