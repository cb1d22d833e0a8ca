/** What routes may call. Bound to their dependencies in app/composition. */
import type { Bound, Guarded } from '../platform/bind.ts';
import { fundWallet } from './fund-wallet.ts';
import type { GatewayInbox } from './gateway-events.ts';
import type { PaymentStatusView } from './views.ts';

export const paymentUseCases = { fundWallet };

export type PaymentCases = Bound<typeof paymentUseCases> &
  Guarded<GatewayInbox> & {
    /**
     * Of a purchase or of a funding; undefined where no payment has this reference. `key`: from the address
     * that the gateway's page has sent the buyer back to.
     */
    findPaymentStatus(reference: string, key?: string): Promise<PaymentStatusView | undefined>;
  };
