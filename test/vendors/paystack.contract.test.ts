/**
 * The contract of the payment gateway on the Paystack client over real HTTP: with the gateway simulator, and,
 * if SIMWAY_PAYSTACK_TEST_KEY is the secret key of a test account, also with the vendor's own test mode, for
 * the suite in which nothing is paid.
 */
import { afterAll } from 'vitest';
import { stopAll } from '../simulators/simulator.support.ts';
import { paystackTestKey } from '../support/time/size.ts';
import { createPaystackGateway } from '../../src/vendors/paystack/gateway.ts';
import { describeControlledGateway, describePaymentGateway } from './payment-gateway-contract.ts';
import type { GatewayUnderTest } from './payment-gateway-kit.ts';
import { describeGatewayRefunds } from './payment-gateway-refund-contract.ts';
import { startOnSimulator } from './paystack.support.ts';

afterAll(stopAll);

/** The vendor is far away. */
const TIME_LIMIT_MS = 20_000;

function createOnTestMode(secretKey: string): () => Promise<GatewayUnderTest> {
  return () => {
    const gateway = createPaystackGateway({ secretKey, mode: 'test', timeLimitMs: TIME_LIMIT_MS });
    return Promise.resolve({
      gateway,
      events: () => [],
      close: () => {
        gateway.close();
        return Promise.resolve();
      },
    });
  };
}

describePaymentGateway('the Paystack client at the simulator', () => startOnSimulator());
describeControlledGateway('the Paystack client at the simulator', () => startOnSimulator());
describeGatewayRefunds('the Paystack client at the simulator', () => startOnSimulator());

if (paystackTestKey !== undefined)
  describePaymentGateway('the Paystack client at the vendor’s test mode', createOnTestMode(paystackTestKey));
