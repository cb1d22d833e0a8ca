import type { Region, CataloguePackage } from './rules.ts';
import type { Money } from '../domain/money.ts';

export interface RegionView extends Region {
  readonly packageCount: number;
}

export interface PricedPackage {
  readonly item: CataloguePackage;
  /** In the currency asked for. */
  readonly price: Money;
  /** US cents, with markup. */
  readonly priceUsdMinor: bigint;
}

export interface ExchangeRateView {
  /** Decimal text: how many NGN one USD is. */
  readonly rate: string;
  readonly observedAt: Date;
  readonly source: string;
}
