/**
 * The port's contract on the paystack adapter over real HTTP: to the gateway simulator, and, where SIMWAY_PAYSTACK_TEST_KEY holds the
 * secret key of a test account, to the vendor's own test mode too, with the suite that needs nobody to pay.
 */
import { paystackTestKey } from '../support/size.ts';
import { createPaystackGateway } from '../../src/vendors/paystack/gateway.ts';
import { describeControlledGateway, describePaymentGateway } from './payment-gateway-contract.ts';
import type { GatewayUnderTest } from './payment-gateway-kit.ts';
import { describeGatewayRefunds } from './payment-gateway-refund-contract.ts';
import { startOnSimulator } from './paystack.support.ts';

/** The real one is far away. */
const SANDBOX_TIME_LIMIT_MS = 20_000;

function createOnSandbox(secretKey: string): () => Promise<GatewayUnderTest> {
  return () => {
    const gateway = createPaystackGateway({ secretKey, mode: 'test', timeLimitMs: SANDBOX_TIME_LIMIT_MS });
    return Promise.resolve({
      gateway,
      events: [],
      tooSlowMs: SANDBOX_TIME_LIMIT_MS + 500,
      close: () => {
        gateway.close();
        return Promise.resolve();
      },
    });
  };
}

describePaymentGateway('paystack at the simulator', () => startOnSimulator());
describeControlledGateway('paystack at the simulator, with buyers and trouble', () => startOnSimulator());
describeGatewayRefunds('paystack at the simulator, with money that goes back', () => startOnSimulator());

if (paystackTestKey !== undefined)
  describePaymentGateway('paystack at its own test mode', createOnSandbox(paystackTestKey));
