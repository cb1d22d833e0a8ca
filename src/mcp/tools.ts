/** What an agent may call. Arguments and answers are those of the named routes (tool-schemas.ts). */
import type { ToolAnnotations } from '@modelcontextprotocol/server';

/** `quote` buys nothing and `buy` does: both take a key that may buy, with a budget. */
export type ToolKind = 'read' | 'quote' | 'buy';

export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  readonly description: string;
  /** By operation id: the route that is run, and whose answer it gives. */
  readonly operation: string;
  /** The route whose parameters and body are its arguments, where that is another one. */
  readonly takes?: string;
  /** Arguments of the route that the agent does not choose. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** What its arguments are, where the route speaks of routes. */
  readonly says?: Readonly<Record<string, string>>;
  /** The answer is about one eSIM, or may name it: its install link stands beside it. */
  readonly linksInstall?: true;
}

const reads = (name: string, operation: string, description: string, linksInstall?: true): Tool => ({
  name,
  kind: 'read',
  operation,
  description,
  ...(linksInstall && { linksInstall }),
});

export const TOOLS: readonly Tool[] = [
  reads(
    'list_regions',
    'listRegions',
    'Lists the countries and regions with eSIM packages. `search` finds one by name or code; `regionCode` is what list_packages takes.',
  ),
  reads(
    'list_packages',
    'listPackages',
    'Lists the packages of one region at their final price. With `type` TOPUP and `packageCode`: what can be added to an eSIM.',
  ),
  reads('get_package', 'getPackage', 'Reads one package: volume, days, networks, price.'),
  reads('get_wallet_balance', 'getWalletBalance', 'Reads what the account can spend now.'),
  reads(
    'get_budget',
    'getKeyBudget',
    'Reads what the key may spend and what is left of it. Only a person can change it.',
  ),
  reads('get_exchange_rate', 'getExchangeRate', 'Reads the exchange rate from USD to NGN.'),
  reads(
    'list_esims',
    'listEsims',
    'Lists the eSIMs of the account, newest first: state, data left, validity.',
  ),
  reads(
    'get_esim',
    'getEsim',
    'Reads one eSIM, with `installUrl`: the page that installs it. Give this link to the traveller and to nobody else.',
    true,
  ),
  reads('list_purchases', 'listTransactions', 'Lists purchases and fundings of the account, newest first.'),
  {
    ...reads(
      'get_purchase',
      'getTransaction',
      'Reads how a purchase stands. PROCESSING: paid, not delivered yet; read it again after some seconds.',
      true,
    ),
    says: { transactionId: 'The `transactionId` of buy_quote or list_purchases' },
  },
  {
    name: 'create_quote',
    kind: 'quote',
    operation: 'createQuote',
    fixed: { paymentMethod: 'WALLET' },
    description:
      'Freezes the price of a package for 15 minutes. Buys nothing and holds no money. Show price and package to a person before buy_quote.',
  },
  {
    name: 'buy_quote',
    kind: 'buy',
    operation: 'buy',
    takes: 'getQuote',
    says: { quoteId: 'The `quoteId` of create_quote' },
    linksInstall: true,
    description:
      'Buys what the quote says, from the wallet, within the budget of the key. A quote buys once: a repeated call answers how that purchase now stands. ' +
      'If no answer arrives, call it again with the same `quoteId`. `installUrl` is the page that installs the eSIM.',
  },
];

const ANNOTATIONS: Readonly<Record<ToolKind, ToolAnnotations>> = {
  read: { readOnlyHint: true, openWorldHint: false },
  quote: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  buy: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

export const annotationsOf = ({ kind }: Tool): ToolAnnotations => ANNOTATIONS[kind];
