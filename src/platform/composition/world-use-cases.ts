import { getPackage, listPackages, listRegions, listTopUps } from '../../catalogue/browse.ts';
import { listPackageChanges } from '../../catalogue/changes.ts';
import { createPriceRevision, nairaRate } from '../../catalogue/prices.ts';
import { createTopUps } from '../../catalogue/top-ups.ts';
import type { Environment } from '../../domain/account.ts';
import {
  createPageRefreshes,
  deleteLink,
  diagnoseEsim,
  findInstallPage,
  getInstall,
} from '../../esims/installing.ts';
import { getEsim, listEsims } from '../../esims/read-esims.ts';
import { controlSandboxEsim, type SandboxDeps } from '../../esims/sandbox-controls.ts';
import { createSupplierInbox, type SupplierInboxDeps } from '../../esims/supplier-events.ts';
import { exportWalletEntries, listWalletEntries } from '../../ledger/wallet-entries.ts';
import { getWallet, getLowBalance, setLowBalance } from '../../ledger/wallet.ts';
import { fundWallet } from '../../payments/fund-wallet.ts';
import { createGatewayInbox } from '../../payments/gateway-events.ts';
import { buy } from '../../purchases/buy.ts';
import type { BatchDeps } from '../../purchases/deps.ts';
import { getEsimTimeline } from '../../purchases/esim-timeline.ts';
import { listTransactions } from '../../purchases/list-transactions.ts';
import { exportBatch, getBatch, listBatches, orderBatch } from '../../purchases/batches/order-batch.ts';
import { createQuote } from '../../purchases/quotes.ts';
import { searchOwn } from '../../purchases/search.ts';
import { getSpending } from '../../purchases/figures/spending.ts';
import { getStatistics, listTopDestinations } from '../../purchases/figures/statistics.ts';
import { findStoredAnswer, storeAnswer } from '../../purchases/stored-answers.ts';
import { confirmPayment, findPaymentStatus, getTransaction } from '../../purchases/transactions.ts';
import type { WebhookDeps } from '../../webhooks/deps.ts';
import * as webhookEndpoints from '../../webhooks/endpoints.ts';
import { listEvents } from '../../webhooks/feed.ts';
import * as webhookMessages from '../../webhooks/messages.ts';
import { createSupplierReadBreaker } from '../circuit-breaker.ts';
import { bindAll, guardAll } from './bind.ts';

/** What routes may call in one environment. Nothing reachable from here knows the other environment. */
export type WorldUseCases = ReturnType<typeof createWorldUseCases>;

export function createWorldUseCases(
  world: BatchDeps &
    WebhookDeps &
    SupplierInboxDeps &
    Pick<SandboxDeps, 'sandboxSupplier'> & { readonly environment: Environment },
) {
  const supplierReads = createSupplierReadBreaker();
  const priceRevision = createPriceRevision(world);
  const gatewayInbox = createGatewayInbox(world);
  const supplierInbox = createSupplierInbox(world);
  const deps = {
    ...world,
    supplierReads,
    pageRefreshes: createPageRefreshes(world.settings.esimFreshMs),
    topUps: createTopUps({ ...world, supplierReads }),
  };
  return {
    environment: world.environment,
    /** Changes whenever a listed price or region may have changed: a key for caches of rendered answers. No I/O. */
    catalogueRevision: () => priceRevision(world.catalogue.current()),
    ...bindAll(deps, {
      listRegions,
      listPackages,
      listTopUps,
      listPackageChanges,
      getPackage,
      getExchangeRate: () => nairaRate(deps, world.catalogue.current()),
      listEsims,
      getEsim,
      controlSandboxEsim,
      getInstall,
      diagnoseEsim,
      deleteInstallLink: deleteLink,
      findInstallPage,
      getWallet,
      getLowBalance,
      setLowBalance,
      listWalletEntries,
      exportWalletEntries,
      buy,
      orderBatch,
      listBatches,
      getBatch,
      exportBatch,
      createQuote,
      getTransaction,
      listTransactions,
      getEsimTimeline,
      getStatistics,
      getSpending,
      searchOwn,
      listTopDestinations,
      confirmPayment,
      findPaymentStatus,
      fundWallet,
      findStoredAnswer,
      storeAnswer,
      ...webhookEndpoints,
      ...webhookMessages,
      listEvents,
    }),
    ...guardAll({
      mayBeGatewayEvent: gatewayInbox.mayBeEvent,
      takeGatewayEvent: gatewayInbox.take,
      admitSupplierEvent: supplierInbox.admit,
      takeSupplierEvent: supplierInbox.take,
    }),
  };
}
