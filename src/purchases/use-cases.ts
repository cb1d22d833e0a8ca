/** What routes may call. Bound to their dependencies in app/composition. */
import type { CatalogueRevision } from '../catalogue/use-cases.ts';
import type { Bound } from '../platform/bind.ts';
import { exportBatch, getBatchSheets } from './batches/hand-out.ts';
import { cancelBatch } from './batches/scheduled.ts';
import { getBatch, listBatches, orderBatch } from './batches/order-batch.ts';
import {
  cancelCheckoutSession,
  completeCheckoutSession,
  createCheckoutSession,
  describeAgenticCheckout,
  getCheckoutSession,
  updateCheckoutSession,
} from './acp/sessions.ts';
import { topUpDueMandates } from './auto-top-ups.ts';
import { buy } from './buy.ts';
import {
  getReplacement,
  getReplacementTerms,
  listReplacements,
  requestReplacement,
} from './replacements/replacements.ts';
import { getReturn, getReturnTerms, listReturns, requestReturn, requestReturns } from './returns/returns.ts';
import { getEsimTimeline } from './esim-timeline.ts';
import { getSpending, getStatistics, listTopDestinations } from './figures/statistics.ts';
import { listTransactions, confirmPayment, getTransaction } from './transactions.ts';
import { createQuote, getQuote } from './terms.ts';
import { searchOwn } from './store/search.ts';

export const purchaseUseCases = {
  buy,
  createQuote,
  getQuote,
  confirmPayment,
  getTransaction,
  listTransactions,
  getEsimTimeline,
  searchOwn,
  orderBatch,
  listBatches,
  getBatch,
  exportBatch,
  cancelBatch,
  getBatchSheets,
  getReturnTerms,
  requestReturn,
  requestReturns,
  listReturns,
  getReturn,
  getReplacementTerms,
  requestReplacement,
  listReplacements,
  getReplacement,
  createCheckoutSession,
  getCheckoutSession,
  updateCheckoutSession,
  completeCheckoutSession,
  cancelCheckoutSession,
  describeAgenticCheckout,
  topUpDueMandates,
};

export type PurchaseCases = Bound<typeof purchaseUseCases>;

export const figuresUseCases = { getStatistics, getSpending, listTopDestinations };

export type FiguresCases = Bound<typeof figuresUseCases> & CatalogueRevision;
