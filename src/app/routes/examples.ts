/** The examples of both OpenAPI documents. */
import { CATALOGUE_EXAMPLES } from '../../catalogue/http/examples.ts';
import { PRICING_EXAMPLES } from '../../catalogue/http/ops-examples.ts';
import { ESIM_EXAMPLES } from '../../esims/http/examples.ts';
import { WALLET_EXAMPLES } from '../../ledger/http/examples.ts';
import { FUNDING_EXAMPLES } from '../../payments/http/examples.ts';
import { PURCHASE_EXAMPLES } from '../../purchases/http/examples.ts';
import { FIGURES_EXAMPLES } from '../../purchases/http/figures-examples.ts';
import { WEBHOOK_EXAMPLES } from '../../webhooks/http/examples.ts';
import type { ExamplesByOperation } from '../../platform/http/docs/sample.ts';

export const EXAMPLES: ExamplesByOperation = {
  ...CATALOGUE_EXAMPLES,
  ...PRICING_EXAMPLES,
  ...ESIM_EXAMPLES,
  ...WALLET_EXAMPLES,
  ...FUNDING_EXAMPLES,
  ...PURCHASE_EXAMPLES,
  ...FIGURES_EXAMPLES,
  ...WEBHOOK_EXAMPLES,
};
