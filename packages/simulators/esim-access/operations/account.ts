/** POST /balance/query, /webhook/save and /webhook/query. */
import { z } from 'zod';
import type { Outcome, SupplierContext } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { read, text, type Params } from '../params.ts';

const SAVE = z.object({ webhook: text(2000) });

/** `/balance/query`: USD x 10,000. */
export function queryBalance(context: SupplierContext): Outcome {
  return { obj: { balance: context.storage.balance() } };
}

/** `/webhook/save`: sends CHECK_HEALTH first; a bad answer means 200008 and the old URL stays. */
export async function saveWebhook(context: SupplierContext, params: Params): Promise<Outcome> {
  const { webhook: url } = read(SAVE, params);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new SupplierError('200008', 'webhook must be an http or https URL');
  }
  if (!(await context.webhooks.checkHealth(url))) {
    throw new SupplierError('200008', 'webhook did not answer the health check with 2xx');
  }
  context.webhooks.saveUrl(url);
  return { obj: {} };
}

/** `/webhook/query`: the current URL, empty when none is saved. */
export function queryWebhook(context: SupplierContext): Outcome {
  return { obj: { webhook: context.webhooks.url() } };
}
