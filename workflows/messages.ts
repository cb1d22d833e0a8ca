/**
 * Messages to running workflows. Handlers and clients use the same values. None carries data that a workflow
 * would believe: rows decide.
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { PurchaseAnswer } from '../src/payments/engine.ts';
import type { PaymentCheckState } from './contract.ts';

/** The update that buyers wait on. Its id is its name, so a repeat is the same update. */
export const firstAnswer = defineUpdate<PurchaseAnswer>('firstAnswer');
/** Check the payment now, for callers who wait for the result. */
export const checkPayment = defineUpdate<PaymentCheckState>('checkPayment');
/** The same for callers who do not wait. */
export const checkPaymentSoon = defineSignal('checkPaymentSoon');
/** The supplier has announced that an order is allocated. */
export const supplierAnnounced = defineSignal('supplierAnnounced');
/** Operator actions are on record. */
export const performActions = defineSignal('performActions');
/** Attempt a webhook delivery now instead of at its next time. */
export const deliverNow = defineSignal('deliverNow');
