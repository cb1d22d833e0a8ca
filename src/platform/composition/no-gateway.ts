/** Where no gateway is configured: nothing can be paid from outside, and no event is anybody's word. */
import type { PaymentGateway } from '../../payments/port.ts';

const refused = () =>
  Promise.resolve({
    outcome: 'refused' as const,
    reason: 'METHOD_NOT_SERVED' as const,
    detail: 'no payment gateway is configured',
  });

export const NO_GATEWAY: PaymentGateway = {
  name: 'none',
  limits: () => undefined,
  charge: refused,
  findCharge: refused,
  refund: refused,
  findRefund: refused,
  paidCharges: () => Promise.resolve({ references: [], count: 0, total: 0, isLast: true }),
  findDisputes: refused,
  disputed: async function* () {},
  statement: async function* () {},
  verifyWebhook: () => undefined,
};
