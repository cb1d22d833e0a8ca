/** The balance, and where webhooks go. */
import { z } from 'zod';
import type { Operations } from '../context.ts';
import { SupplierError } from '../errors.ts';
import { read, text } from '../params.ts';

const SAVE = z.object({ webhook: text(2000) });

export const accountOperations = {
  'balance/query': ({ storage }) => ({ obj: { balance: storage.balance() } }),
  /** Sends CHECK_HEALTH first; a bad answer means 200008 and the old URL stays. */
  'webhook/save': async ({ webhooks }, params) => {
    const { webhook: url } = read(SAVE, params);
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new SupplierError('200008', 'webhook must be an http or https URL');
    }
    if (!(await webhooks.checkHealth(url))) {
      throw new SupplierError('200008', 'webhook did not answer the health check with 2xx');
    }
    webhooks.saveUrl(url);
    return { obj: {} };
  },
  /** Empty when none is saved. */
  'webhook/query': ({ webhooks }) => ({ obj: { webhook: webhooks.url() } }),
} satisfies Operations;
