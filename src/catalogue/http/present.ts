/** Regions and packages → the specification's shapes. Pure. Supplier cost never passes through here. */
import type { z } from 'zod';
import { snapshotOf, validityDays } from '../rules.ts';
import type { AccountCurrency } from '../../domain/money.ts';
import { moneyJson, decimalJson, type Wire } from '../../platform/http/json.ts';
import type {
  packageDetailsSchema,
  packageSchema,
  regionSchema,
  topUpPackageSchema,
  exchangeRateSchema,
} from './schema.ts';
import type { RegionView } from '../memory.ts';
import type { PricedPackage, ExchangeRateView } from '../prices.ts';

export function presentRegion(view: RegionView): Wire<z.output<typeof regionSchema>> {
  const { regionCode, regionName, regionType, countryCode, flagUrl, packageCount } = view;
  return { regionCode, regionName, regionType, countryCode, flagUrl, packageCount };
}

/** Catalogue shape; the price is in the account's currency. */
export function presentPackage(view: PricedPackage): Wire<z.output<typeof packageSchema>> {
  const { item, price, priceUsdMinor } = view;
  // The words that a buyer sees are the words that are frozen with the order.
  const words = snapshotOf(item);
  return {
    packageCode: item.packageCode,
    packageName: item.name,
    data: words.data,
    validity: validityDays(item.duration, item.durationUnit),
    price: moneyJson(price.amountMinor),
    currency: price.currency as AccountCurrency,
    originalPriceUSD: moneyJson(priceUsdMinor),
    coverage: words.coverage,
    networkProviders: words.networkProviders,
    dataType: words.dataType,
    speed: words.speed,
    activation: activationText(item.activeType),
    topUpAvailable: item.topUpAvailable,
  };
}

/** Top-up shape, as the TOPUP list has it. */
export function presentTopUp(view: PricedPackage): Wire<z.output<typeof topUpPackageSchema>> {
  return {
    ...presentOffer(view),
    locationNetworkList: view.item.networks.map(({ locationName, locationCode, operatorList }) => ({
      locationName,
      locationCode,
      operatorList: operatorList.map(presentOperator),
    })),
  };
}

/** Detail shape: the top-up shape with more about where it works. */
export function presentPackageDetails(view: PricedPackage): Wire<z.output<typeof packageDetailsSchema>> {
  const { item } = view;
  return {
    ...presentOffer(view),
    unusedValidTime: item.unusedValidDays,
    location: item.location,
    locationCode: item.locationCode,
    locationNetworkList: item.networks.map(({ locationName, locationLogo, locationCode, operatorList }) => ({
      locationName,
      locationLogo,
      locationCode,
      operatorList: operatorList.map(presentOperator),
    })),
  };
}

function presentOffer({ item, price }: PricedPackage) {
  return {
    packageCode: item.packageCode,
    name: item.name,
    price: moneyJson(price.amountMinor),
    currencyCode: price.currency,
    volume: item.volumeBytes,
    duration: item.duration,
    durationUnit: item.durationUnit,
    speed: item.speed,
    description: item.description,
  };
}

function presentOperator(operator: { readonly operatorName: string; readonly networkType: string }) {
  return { operatorName: operator.operatorName, networkType: operator.networkType };
}

/** The supplier's number for when validity starts, as a sentence. */
function activationText(activeType: number): string {
  return activeType === 1
    ? 'Validity starts when the eSIM is installed'
    : 'Validity starts when the eSIM first connects to a network';
}

export function presentExchangeRate(view: ExchangeRateView): Wire<z.output<typeof exchangeRateSchema>> {
  return {
    success: true,
    message: 'Current exchange rate',
    data: { rate: decimalJson(view.rate), baseCurrency: 'USD', currency: 'NGN' },
  };
}
