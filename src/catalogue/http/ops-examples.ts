/** Examples of the reference under /ops: rates and prices. */
import { OPENED, type ExamplesByOperation } from '../../platform/http/docs/sample.ts';
import { presentPage } from '../../platform/http/page.ts';

const FINANCE = 'finance@example.com';
const WHY = 'the rate of the central bank this morning';
const set = { rateId: '42', currency: 'NGN', before: 1500, rate: 1534.25 };
const before = { userMarkupPercent: 25, merchantMarkupPercent: 15, ngnIncrementPercent: 3 };
const after = { ...before, merchantMarkupPercent: 17.5 };
const unchanged = {
  ...{ dearer: 0, cheaper: 0, unchanged: 3000, unsellable: 0, belowCost: 0 },
  ...{ largestRisePercent: null, largestFallPercent: null },
};
const dearer = { ...unchanged, dearer: 3000, unchanged: 0, largestRisePercent: 2.44 };

export const PRICING_EXAMPLES: ExamplesByOperation = {
  listRates: {
    200: {
      'one waits': {
        success: true,
        data: {
          items: [
            {
              ...{ rateId: '41', currency: 'NGN', rate: 1500, source: 'fixed', observedAt: OPENED },
              ...{ ageSeconds: 240, isSold: true },
            },
          ],
          waiting: [
            {
              ...{ rateId: '43', currency: 'NGN', rate: 1700, currentRate: 1500, changePercent: 13.33 },
              ...{ source: 'operator', observedAt: OPENED, proposedBy: FINANCE, reason: WHY },
            },
          ],
          changes: [
            {
              ...{ at: OPENED, currency: 'NGN', before: 1300, rate: 1500, by: FINANCE, reason: WHY },
              ...{ confirmedBy: 'second@example.com', confirmReason: 'the bank says the same' },
            },
          ],
          history: [{ at: OPENED, rate: 1500, source: 'fixed' }],
        },
      },
    },
  },
  setRate: {
    request: {
      set: { currency: 'NGN', rate: 1534.25, reason: WHY },
      'as configured': { currency: 'NGN', rate: null, reason: 'the bank is right again' },
    },
    200: {
      set: { success: true, data: { outcome: 'set', ...set } },
      'as configured': { success: true, data: { outcome: 'set', ...set, rateId: null, rate: null } },
    },
    202: { waits: { success: true, data: { outcome: 'waits', ...set, rateId: '43', rate: 1700 } } },
  },
  confirmRate: {
    request: { confirm: { reason: 'the bank says the same' } },
    200: { confirmed: { success: true, data: { rateId: '43', outcome: 'confirmed' } } },
  },
  listPrices: {
    200: {
      'the first settings': presentPage(
        {
          items: [
            {
              ...{ version: 'initial', ...before, by: 'migrate', reason: 'starting values' },
              ...{ validFrom: OPENED, isInForce: true },
            },
          ],
          ...{ total: 1, page: 1, limit: 10 },
        },
        (item) => item,
      ),
    },
  },
  previewPrices: {
    request: { 'a higher markup for merchants': after },
    200: {
      'a higher markup for merchants': {
        success: true,
        data: {
          ...{ version: 'initial', before, after, nairaRate: null, packages: 3000 },
          totals: [
            { accountType: 'USER', currency: 'USD', ...unchanged, lowestMarginPercent: 20 },
            { accountType: 'MERCHANT', currency: 'USD', ...dearer, lowestMarginPercent: 14.53 },
          ],
          ...presentPage(
            {
              items: [
                {
                  ...{ packageCode: 'SIM-OK', name: 'Sandbox SIM-OK 1GB 7Days', packageType: 'BASE' },
                  costUsd: 2,
                  prices: [
                    {
                      ...{ accountType: 'MERCHANT', currency: 'USD', before: 2.3, after: 2.35 },
                      ...{ changePercent: 2.17, marginPercent: 14.89 },
                    },
                  ],
                },
              ],
              ...{ total: 3000, page: 1, limit: 10 },
            },
            (item) => item,
          ).data,
        },
      },
    },
  },
  setPrices: {
    request: {
      'after a preview': { version: 'initial', ...after, reason: 'costs of the gateway went up' },
    },
    200: { set: { success: true, data: { outcome: 'set' } } },
  },
  listOnSale: {
    200: {
      'one package': {
        success: true,
        data: {
          ...{ at: OPENED, knownSince: '2025-11-01T00:00:00.000Z' },
          ...presentPage(
            {
              items: [
                {
                  ...{ packageCode: 'SIM-OK', name: 'Sandbox SIM-OK 1GB 7Days', packageType: 'BASE' },
                  ...{ regionCode: 'NG', costUsd: 2, userPriceUsd: 2.5, merchantPriceUsd: 2.3 },
                  ...{ validFrom: '2025-11-01T00:00:00.000Z', validTo: null },
                },
              ],
              ...{ total: 1, page: 1, limit: 10 },
            },
            (item) => item,
          ).data,
        },
      },
    },
  },
};
