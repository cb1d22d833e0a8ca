import type { z } from 'zod';
import type { AccountCurrency } from '../../domain/money.ts';
import { encodeCursor } from '../../platform/http/cursor.ts';
import { moneyJson, decimalJson, type Wire } from '../../platform/http/json.ts';
import type { ChangePage } from '../changes.ts';
import type { PricedPackage } from '../prices.ts';
import { snapshotOf, validityDays, type LocationNetwork } from '../rules.ts';
import { CHANGES_LIST, packageChangeSchema } from './schema.ts';
import type {
  packageChangesSchema,
  packageDetailsSchema,
  packageSchema,
  topUpPackageSchema,
  exchangeRateSchema,
} from './schema.ts';
import { presenter } from '../../platform/http/answer-fields.ts';

export function presentPackage(view: PricedPackage): Wire<z.output<typeof packageSchema>> {
  const { item, price, priceUsdMinor } = view;
  return {
    packageCode: item.packageCode,
    packageName: item.name,
    validity: validityDays(item.duration, item.durationUnit),
    price: moneyJson(price.amountMinor),
    currency: price.currency as AccountCurrency,
    originalPriceUSD: moneyJson(priceUsdMinor),
    // As it is stored with the order.
    ...snapshotOf(item),
    activation:
      item.activeType === 1
        ? 'Validity starts when the eSIM is installed'
        : 'Validity starts when the eSIM first connects to a network',
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

export function presentExchangeRate(rate: string): Wire<z.output<typeof exchangeRateSchema>> {
  return {
    success: true,
    message: 'Current exchange rate',
    data: { rate: decimalJson(rate), baseCurrency: 'USD', currency: 'NGN' },
  };
}

export function presentChanges(
  { items, nextId, hasMore }: ChangePage,
  currency: AccountCurrency,
): Wire<z.output<typeof packageChangesSchema>>['data'] {
  const present = presenter(packageChangeSchema);
  return {
    items: items.map(({ price, ...change }) =>
      present({ ...change, price: price && moneyJson(price.amountMinor), currency }),
    ),
    nextCursor: encodeCursor(CHANGES_LIST, nextId),
    hasMore,
  };
}
