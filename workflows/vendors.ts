/** The vendors of a purchase or a funding, from its rows. Read again only after an action. */
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
