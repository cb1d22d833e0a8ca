/** Puts the verbs of one world together; nothing else happens here. */
import { unavailableWhenAway } from './availability.ts';
import { getPackage, listPackages, listRegions, listTopUps } from '../../catalogue/browse.ts';
import { buy } from '../../purchases/buy.ts';
import { confirmPayment, findPaymentStanding } from '../../purchases/confirm-payment.ts';
import { getEsim, listEsims } from '../../esims/read-esims.ts';
import { fundWallet } from '../../payments/fund-wallet.ts';
import { createGatewayDoor } from '../../payments/gateway-events.ts';
import { findStoredAnswer, storeAnswer } from '../../purchases/stored-answers.ts';
import { exchangeRateView, priceRevision } from '../../catalogue/prices.ts';
import { createPatience } from '../circuit-breaker.ts';
import { createTopUps } from '../../catalogue/top-ups.ts';
import { getTransaction } from '../../purchases/read-transaction.ts';
import type { WorldUseCases } from './use-cases.ts';
import { getWallet } from '../../ledger/wallet.ts';
import { webhookVerbs } from '../../webhooks/verbs.ts';
import type { WorldDeps } from './world-deps.ts';

export function createWorldUseCases(world: WorldDeps): WorldUseCases {
  const patience = createPatience(world.clock);
  const door = createGatewayDoor(world);
  const deps = { ...world, patience, topUps: createTopUps({ ...world, patience }) };
  return unavailableWhenAway<WorldUseCases>({
    environment: world.environment,
    catalogueRevision: () => priceRevision(world, world.catalogue.current()),
    listRegions: (query) => promised(() => listRegions(deps, query)),
    listPackages: (account, query) => promised(() => listPackages(deps, account, query)),
    listTopUps: (account, query) => listTopUps(deps, account, query),
    getPackage: (account, query) => getPackage(deps, account, query),
    buy: (principal, command, context) => buy(deps, principal, command, context),
    confirmPayment: (principal, which) => confirmPayment(deps, principal, which),
    fundWallet: (principal, command, context) => fundWallet(deps, principal, command, context),
    findPaymentStanding: (reference) => findPaymentStanding(deps, reference),
    takeGatewayEvent: (rawBody, headers) => door.take(rawBody, headers),
    getTransaction: (principal, transactionId) => getTransaction(deps, principal, transactionId),
    listEsims: (principal, query) => listEsims(deps, principal, query),
    getEsim: (principal, esimId) => getEsim(deps, principal, esimId),
    getWallet: (principal) => getWallet(deps, principal),
    ...webhookVerbs(deps),
    getExchangeRate: () => promised(() => exchangeRateView(deps, world.catalogue.current())),
    findStoredAnswer: (principal, tag) => findStoredAnswer(deps, principal, tag),
    storeAnswer: (principal, tag, answer) => storeAnswer(deps, principal, tag, answer),
  });
}

/** What memory answers at once, with a refusal as a rejection like everybody else's. */
function promised<T>(answer: () => T): Promise<T> {
  return new Promise((resolve) => resolve(answer()));
}
