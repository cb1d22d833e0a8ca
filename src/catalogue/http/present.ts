import type { z } from 'zod';
import { snapshotOf, validityDays, type LocationNetwork } from '../rules.ts';
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
  return { ...view };
}

export function presentPackage(view: PricedPackage): Wire<z.output<typeof packageSchema>> {
  const { item, price, priceUsdMinor } = view;
  // The buyer sees what is stored with the order.
  const snapshot = snapshotOf(item);
  return {
    packageCode: item.packageCode,
    packageName: item.name,
    data: snapshot.data,
    validity: validityDays(item.duration, item.durationUnit),
    price: moneyJson(price.amountMinor),
    currency: price.currency as AccountCurrency,
    originalPriceUSD: moneyJson(priceUsdMinor),
    coverage: snapshot.coverage,
    networkProviders: snapshot.networkProviders,
    dataType: snapshot.dataType,
    speed: snapshot.speed,
    activation: activationText(item.activeType),
    topUpAvailable: item.topUpAvailable,
  };
}

export function presentTopUp(view: PricedPackage): Wire<z.output<typeof topUpPackageSchema>> {
  return {
    ...presentOffer(view),
    locationNetworkList: view.item.networks.map(presentNetwork),
  };
}

export function presentPackageDetails(view: PricedPackage): Wire<z.output<typeof packageDetailsSchema>> {
  const { item } = view;
  return {
    ...presentOffer(view),
    unusedValidTime: item.unusedValidDays,
    location: item.location,
    locationCode: item.locationCode,
    locationNetworkList: item.networks.map((network) => ({
      ...presentNetwork(network),
      locationLogo: network.locationLogo,
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

function presentNetwork({ locationName, locationCode, operatorList }: LocationNetwork) {
  return {
    locationName,
    locationCode,
    operatorList: operatorList.map(({ operatorName, networkType }) => ({ operatorName, networkType })),
  };
}

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
