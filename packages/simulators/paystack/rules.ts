/** What can be charged how. All amounts are subunits (hundredths). */
import { GatewayError, invalid } from './errors.ts';

export const COUNTRIES = ['NG', 'GH', 'KE', 'CI', 'ZA'] as const;
export type Country = (typeof COUNTRIES)[number];

export const CHANNEL_NAMES = {
  card: 'Card',
  bank: 'Bank account',
  apple_pay: 'Apple Pay',
  ussd: 'USSD',
  qr: 'QR code',
  mobile_money: 'Mobile money',
  bank_transfer: 'Bank transfer',
  eft: 'EFT',
  capitec_pay: 'Capitec Pay',
  payattitude: 'PayAttitude',
};
export type Channel = keyof typeof CHANNEL_NAMES;
export const CHANNELS = Object.keys(CHANNEL_NAMES) as Channel[];

interface CurrencyRule {
  leastMinor: number;
  channels: readonly Channel[];
  /** Where the integration must be at home; absent: anywhere. */
  countries?: readonly Country[];
  providers: readonly string[];
}

const MOBILE: readonly Channel[] = ['card', 'apple_pay', 'mobile_money'];
const RULES = {
  NGN: {
    leastMinor: 5000,
    channels: ['card', 'bank', 'apple_pay', 'ussd', 'qr', 'bank_transfer', 'payattitude'],
    providers: [],
  },
  USD: { leastMinor: 200, channels: ['card', 'apple_pay'], countries: ['NG', 'KE'], providers: [] },
  GHS: { leastMinor: 10, channels: MOBILE, providers: ['mtn', 'atl', 'vod'] },
  KES: {
    leastMinor: 300,
    channels: [...MOBILE, 'bank_transfer'],
    providers: ['mpesa', 'mpesa_offline', 'mptill', 'atl'],
  },
  XOF: { leastMinor: 100, channels: MOBILE, providers: ['mtn', 'orange', 'wave'] },
  ZAR: { leastMinor: 100, channels: ['card', 'qr', 'eft', 'capitec_pay'], providers: [] },
} as const satisfies Record<string, CurrencyRule>;

export type Currency = keyof typeof RULES;
export const CURRENCIES = Object.keys(RULES) as Currency[];

export interface Integration {
  country: Country;
  currencies: readonly Currency[];
  merchant: string;
  domain: 'test' | 'live';
}

const LEAST_TRANSFER_MINOR = 10_000;
/** 10,000,000 in whole units of any currency. */
const MAX_MINOR = 1_000_000_000;
const TRANSFER_CURRENCY: Partial<Record<Country, Currency>> = { NG: 'NGN', KE: 'KES' };
const MINUTE_MS = 60_000;

/** How long a customer has for mobile money. */
export const MOBILE_MONEY_MS = 180_000;
/** How long the transfer account of a hosted page lives. */
export const HOSTED_TRANSFER_MS = 30 * MINUTE_MS;

const LEAST_EXPIRY_MS = 15 * MINUTE_MS;
const MAX_EXPIRY_MS = 8 * 60 * MINUTE_MS;
const PESALINK_EXPIRY_MS = 25 * MINUTE_MS;

function ruleOf(currency: Currency): CurrencyRule {
  return RULES[currency];
}

/** The currency this integration may charge in; the country's own when none is named. */
export function chargeable(integration: Integration, name: unknown): Currency {
  const currency = name ?? integration.currencies[0];
  const known = integration.currencies.find((each) => each === currency);
  const countries = known === undefined ? undefined : ruleOf(known).countries;
  if (known === undefined || (countries !== undefined && !countries.includes(integration.country))) {
    throw invalid('Currency not supported by merchant', 'unsupported_currency');
  }
  return known;
}

export function channelsOf(integration: Integration, currency: Currency): Channel[] {
  return ruleOf(currency).channels.filter(
    (channel) => channel !== 'bank_transfer' || TRANSFER_CURRENCY[integration.country] === currency,
  );
}

/** XOF has no fractions: what is left of it. */
export function chargeableAmount(amountMinor: number, currency: Currency): number {
  const amount = currency === 'XOF' ? amountMinor - (amountMinor % 100) : amountMinor;
  const { leastMinor } = ruleOf(currency);
  if (amount < leastMinor) {
    const least = (leastMinor / 100).toFixed(2);
    throw invalid(`Invalid Amount Sent: the minimum is ${currency} ${least}`, 'invalid_amount');
  }
  if (amount > MAX_MINOR) throw invalid('Transaction amount limit exceeded', 'invalid_amount');
  return amount;
}

export function isTransferable(amountMinor: number, currency: Currency): boolean {
  return currency !== 'NGN' || amountMinor >= LEAST_TRANSFER_MINOR;
}

export function requireTransferable(amountMinor: number, currency: Currency): void {
  if (isTransferable(amountMinor, currency)) return;
  throw invalid(
    'Pay with transfer is not currently supported for transactions less than NGN 100.00',
    'invalid_amount',
  );
}

export function requireProvider(currency: Currency, provider: string): void {
  const { providers } = ruleOf(currency);
  if (providers.length === 0) {
    throw invalid(`Mobile money is not available in ${currency}`, 'unsupported_currency');
  }
  if (!providers.includes(provider)) {
    throw invalid(`provider must be one of ${providers.join(', ')} for ${currency}`);
  }
}

/** When a transfer account expires: 15 minutes to 8 hours from now, 25 minutes in Kenya. */
export function accountExpiryMs(currency: Currency, wantedMs: number | null, nowMs: number): number {
  if (currency === 'KES') return nowMs + PESALINK_EXPIRY_MS;
  const wanted = wantedMs ?? Number.POSITIVE_INFINITY;
  return Math.min(nowMs + MAX_EXPIRY_MS, Math.max(nowMs + LEAST_EXPIRY_MS, wanted));
}

/** The gateway's fee: 1.5 %, at most NGN 2,000. */
export function feeOf(amountMinor: number, currency: string): number {
  const fee = Math.floor((amountMinor * 15) / 1000);
  return currency === 'NGN' ? Math.min(fee, 200_000) : fee;
}

/** The channel is not served; its own error because the gateway words it so. */
export function noChannel(): GatewayError {
  return new GatewayError('No active channel', {
    code: 'no_active_channel',
    nextStep: 'Choose channels that serve this currency',
  });
}
