// The supplier answers another package than the one that was ordered: it is delivered, and a person is asked.
import { createHmac, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { findPurchaseRow, holdOf, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();

/** An order that the supplier holds under our id, as after a mistake on its side. */
async function heldAtSupplier(transactionId: string, packageCode: string): Promise<void> {
  const accessCode = stack.env['SIMWAY_TEST_SUPPLIER_ACCESS_CODE'] ?? '';
  const body = JSON.stringify({ transactionId, packageInfoList: [{ packageCode, count: 1 }] });
  const [timestamp, requestId] = [String(Date.now()), randomUUID().replaceAll('-', '')];
  const signature = createHmac('sha256', accessCode)
    .update(timestamp + requestId + accessCode + body)
    .digest('hex');
  const answer = await fetch(`${stack.supplierUrl}/api/v1/open/esim/order`, {
    method: 'POST',
    headers: {
      'RT-AccessCode': accessCode,
      'RT-RequestID': requestId,
      'RT-Timestamp': timestamp,
      'RT-Signature': signature,
    },
    body,
  });
  expect(await answer.json()).toMatchObject({ success: true });
}

/** With another volume than the 1 GB of SIM-OK. */
async function otherPackage(): Promise<string> {
  const row = await stack.owner
    .selectFrom('packages')
    .select('package_code')
    .where('package_type', '=', 'BASE')
    .where('volume_bytes', '<', 1_073_741_824n)
    .where('data_type', '=', 1)
    .orderBy('package_code')
    .limit(1)
    .executeTakeFirstOrThrow();
  // At the price of what was ordered, so that the books are sound.
  await fetch(`${stack.supplierControlUrl}/packages/${row.package_code}`, {
    method: 'PUT',
    body: JSON.stringify({ price: 20_000 }),
  });
  return row.package_code;
}

it('another package than ordered is delivered and flagged', async () => {
  const input = harness.inputFor({ account: buyer.account });
  await heldAtSupplier(input.transactionId, await otherPackage());
  await harness.ask(input);
  expect(await untilClosed(stack, input.transactionId)).toMatchObject({ status: 'SUCCESS' });
  expect(await holdOf(stack, input.transactionId)).toBe('POSTED');
  expect(await findPurchaseRow(stack, input.transactionId)).toMatchObject({
    attention_reason: 'OTHER_PACKAGE_DELIVERED',
  });
  expect(await timelineOf(stack, input.transactionId)).toContain('other-package-delivered');
});

it('the ordered package is delivered without a flag', async () => {
  const { transactionId } = await harness.purchase({ account: buyer.account });
  expect(await untilClosed(stack, transactionId)).toMatchObject({
    status: 'SUCCESS',
    attention_reason: null,
  });
});
