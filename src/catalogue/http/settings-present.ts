/** Exchange rate → the specification's envelope. Pure. */
import type { z } from 'zod';
import { decimalJson, type Wire } from '../../platform/http/json.ts';
import type { exchangeRateSchema } from './settings-schema.ts';
import type { ExchangeRateView } from '../views.ts';

export function presentExchangeRate(view: ExchangeRateView): Wire<z.output<typeof exchangeRateSchema>> {
  return {
    success: true,
    message: 'Current exchange rate',
    data: { rate: decimalJson(view.rate), baseCurrency: 'USD', currency: 'NGN' },
  };
}
