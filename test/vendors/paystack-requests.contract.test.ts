/** The requests of the Paystack client, compared with what the vendor publishes. */
import { describe, expect, it } from 'vitest';
import {
  byCard,
  byTransfer,
  example,
  giveBack,
  linesOf,
  transaction,
  yes,
  startAnsweringGateway,
} from '../support/vendors/answering-gateway.ts';
import { json, sentBody, type Call } from '../support/vendors/answering-server.ts';
import { forFile } from '../support/world/for-file.ts';

const server = await forFile(startAnsweringGateway());

describe('the Paystack client, its requests', () => {
  /**
   * Fields by operation: the published OpenAPI document (PaystackOSS/openapi 9678dea), and after the bar
   * those that only the pages name.
   */
  const PUBLISHED: Record<string, string> = {
    'POST /transaction/initialize':
      'email amount currency reference channels callback_url plan invoice_limit split_code split subaccount transaction_charge bearer label metadata',
    'POST /charge':
      'email amount authorization_code pin reference birthday device_id metadata bank mobile_money ussd eft | currency bank_transfer',
    'GET /charge/txn-1': '',
    'GET /transaction/verify/txn-1': '',
    'GET /transaction/4099260516': '',
    'GET /transaction': 'use_cursor next previous per_page page from to status | perPage',
    'POST /refund': 'transaction amount currency customer_note merchant_note',
    'GET /refund': 'perPage page from to | transaction currency',
    'GET /dispute': 'from to perPage page transaction status',
  };
  const CHANNELS = ['card', 'bank', 'ussd', 'qr', 'eft', 'mobile_money', 'bank_transfer', 'apple_pay'];

  it('have only fields that the vendor publishes', async () => {
    const gateway = server.gateway();
    const seen = new Set<string>();
    const check = (calls: readonly Call[]): void => {
      for (const { method, path, body, headers } of calls) {
        const { pathname, searchParams } = new URL(path, server.baseUrl);
        const fields = body === '' ? [...searchParams.keys()] : Object.keys(JSON.parse(body) as object);
        const published = PUBLISHED[`${method} ${pathname}`]?.split(/[ |]+/);
        expect(published, `${method} ${pathname}`).toBeDefined();
        expect(fields.filter((field) => !published?.includes(field))).toEqual([]);
        expect(headers['authorization']).toBe('Bearer sk_test_simulator');
        seen.add(`${method} ${pathname}`);
      }
    };
    server.answerWith(example('initialize'));
    await gateway.charge({ ...byCard, returnUrl: 'https://shop.example.com/', scenario: 'late' });
    const sent = sentBody(server.calls[0]);
    expect([typeof sent['amount'], typeof sent['email'], typeof sent['metadata']]).toEqual([
      'number',
      'string',
      'object',
    ]);
    expect(CHANNELS).toEqual(expect.arrayContaining(sent['channels'] as string[]));
    check(server.calls);
    server.answerWith(example('duplicate-reference', 400), example('charge-bank-transfer'));
    await gateway.charge(byTransfer);
    check(server.calls);
    server.answerWith(example('refund-queued'));
    await gateway.refund(giveBack);
    check(server.calls);
    server.answerWith(json(yes(transaction())), example('refunds-processed'));
    await gateway.findRefund(giveBack);
    check(server.calls);
    server.answerWith(
      example('transactions-by-page'),
      example('refunds-processed'),
      example('verify-success'),
      json(yes([])),
    );
    await linesOf(gateway);
    check(server.calls);
    expect([...seen].toSorted()).toEqual(Object.keys(PUBLISHED).toSorted());
  });

  it('go to an address that may have a path', async () => {
    server.answerWith(example('verify-success'));
    await server.gateway({ baseUrl: `${server.baseUrl}/gateway/` }).findCharge('txn-1');
    expect(server.calls[0]?.path).toBe('/gateway/transaction/verify/txn-1');
  });
});
