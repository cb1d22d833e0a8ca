/** On whose queues the steps of a purchase or a funding run. The rows say; they are read again only where they may have changed. */
import type { Vendors } from '../src/payments/opened.ts';
import { findVendors } from './steps.ts';

export interface KnownVendors {
  /** What the step that opened it has said. */
  know(vendors: Vendors | undefined): void;
  /** An action may have replaced its package by one of another supplier. */
  forget(): void;
  find(): Promise<Vendors>;
}

export function createVendors(transactionId: string): KnownVendors {
  let known: Vendors | undefined;
  return {
    know: (vendors) => {
      known = vendors;
    },
    forget: () => {
      known = undefined;
    },
    find: async () => (known ??= await findVendors(transactionId)),
  };
}
