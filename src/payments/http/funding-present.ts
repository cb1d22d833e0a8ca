import type { FundingView } from '../views.ts';
import { moneyJson, type Wire } from '../../platform/http/json.ts';
import type { z } from 'zod';
import type { AccountCurrency } from '../../domain/money.ts';
import { presentPayment } from './present.ts';
import { presentTimeline } from '../../platform/http/answer-fields.ts';
import type { fundingSchema, fundingStandingSchema } from './funding-schema.ts';

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
