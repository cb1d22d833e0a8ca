import { billingUseCases } from '../../billing/use-cases.ts';
import { createPriceRevision, priceGroup } from '../../catalogue/prices.ts';
import { createTopUps } from '../../catalogue/top-ups.ts';
import { catalogueUseCases } from '../../catalogue/use-cases.ts';
import type { Account, Environment } from '../../domain/account.ts';
import { createPageRefreshes } from '../../esims/installing.ts';
import type { SandboxDeps } from '../../esims/sandbox-controls.ts';
import { createSupplierInbox, type SupplierInboxDeps } from '../../esims/supplier-events.ts';
import { esimUseCases } from '../../esims/use-cases.ts';
import { walletUseCases } from '../../ledger/use-cases.ts';
import { createGatewayInbox } from '../../payments/gateway-events.ts';
import { paymentUseCases } from '../../payments/use-cases.ts';
import type { ReturnKeys } from '../../payments/return-keys.ts';
import { bindAll, guardAll } from '../../platform/bind.ts';
import { createSupplierReadBreaker } from '../../platform/circuit-breaker.ts';
import type { BatchDeps } from '../../purchases/deps.ts';
import { findStoredAnswer, storeAnswer } from '../../purchases/stored-answers.ts';
import { findPaymentStatus } from '../../purchases/transactions.ts';
import { figuresUseCases, purchaseUseCases } from '../../purchases/use-cases.ts';
import type { WebhookDeps } from '../../webhooks/deps.ts';
import { webhookUseCases } from '../../webhooks/use-cases.ts';

/**
 * What routes may call in one environment, by noun. Nothing reachable from here knows the other environment.
 */
export type WorldUseCases = ReturnType<typeof createWorldUseCases>;

export function createWorldUseCases(
  world: BatchDeps &
    WebhookDeps &
    SupplierInboxDeps &
    Pick<SandboxDeps, 'sandboxSupplier'> & {
      readonly environment: Environment;
      readonly returnKeys: ReturnKeys;
    },
) {
  const supplierReads = createSupplierReadBreaker();
  const priceRevision = createPriceRevision(world);
  const deps = {
    ...world,
    supplierReads,
    pageRefreshes: createPageRefreshes(world.settings.esimFreshMs),
    topUps: createTopUps({ ...world, supplierReads }),
  };
  /**
   * Changes whenever a listed price or region may have changed: a key for caches of rendered answers. No I/O.
   */
  const catalogueRevision = () => priceRevision(world.catalogue.current());
  const priceRevisionOf = (account: Account | undefined) =>
    `${catalogueRevision()}/${priceGroup(world.catalogue.current(), account)}`;
  return {
    environment: world.environment,
    catalogue: {
      ...bindAll(deps, catalogueUseCases),
      catalogueRevision,
      priceRevision: priceRevisionOf,
    },
    esims: { ...bindAll(deps, esimUseCases), ...guardAll(createSupplierInbox(world)) },
    wallet: bindAll(deps, walletUseCases),
    billing: bindAll(deps, billingUseCases),
    payments: {
      ...bindAll(deps, { ...paymentUseCases, findPaymentStatus }),
      ...guardAll(createGatewayInbox(world)),
    },
    purchases: bindAll(deps, purchaseUseCases),
    figures: { ...bindAll(deps, figuresUseCases), catalogueRevision },
    webhooks: bindAll(deps, webhookUseCases),
    storedAnswers: bindAll(deps, { findStoredAnswer, storeAnswer }),
  };
}
