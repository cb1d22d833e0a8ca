import type { Environment } from '../../domain/account.ts';
import { getPackage, listPackages, listRegions, listTopUps } from '../../catalogue/browse.ts';
import { nairaRate, priceRevision } from '../../catalogue/prices.ts';
import { createTopUps } from '../../catalogue/top-ups.ts';
import { getEsim, listEsims } from '../../esims/read-esims.ts';
import { getWallet, getLowBalance, setLowBalance } from '../../ledger/wallet.ts';
import { fundWallet } from '../../payments/fund-wallet.ts';
import { createGatewayInbox } from '../../payments/gateway-events.ts';
import { buy } from '../../purchases/buy.ts';
import { confirmPayment, findPaymentStatus, getTransaction } from '../../purchases/transactions.ts';
import { findStoredAnswer, storeAnswer } from '../../purchases/stored-answers.ts';
import type { PurchaseDeps } from '../../purchases/deps.ts';
import type { WebhookDeps } from '../../webhooks/deps.ts';
import { webhookUseCases } from '../../webhooks/use-cases.ts';
import { createSupplierReadBreaker } from '../circuit-breaker.ts';
import { bindAll } from './bind.ts';

/** What routes may call in one world. Nothing reachable from here knows the other world. */
export type WorldUseCases = ReturnType<typeof createWorldUseCases>;

export function createWorldUseCases(
  world: PurchaseDeps & WebhookDeps & { readonly environment: Environment },
) {
  const supplierReads = createSupplierReadBreaker();
  const gatewayDoor = createGatewayInbox(world);
  const deps = { ...world, supplierReads, topUps: createTopUps({ ...world, supplierReads }) };
  return {
    environment: world.environment,
    /** Changes whenever a listed price or region may have changed: a key for caches of rendered answers. No I/O. */
    catalogueRevision: () => priceRevision(world, world.catalogue.current()),
    ...bindAll(deps, {
      listRegions,
      listPackages,
      listTopUps,
      getPackage,
      getExchangeRate: () => nairaRate(deps, world.catalogue.current()),
      listEsims,
      getEsim,
      getWallet,
      getLowBalance,
      setLowBalance,
      buy,
      getTransaction,
      confirmPayment,
      findPaymentStatus,
      fundWallet,
      findStoredAnswer,
      storeAnswer,
      ...webhookUseCases,
      takeGatewayEvent: (_deps, ...event: Parameters<typeof gatewayDoor.take>) => gatewayDoor.take(...event),
    }),
  };
}
