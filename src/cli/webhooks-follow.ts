/** Whose events a listener shows: the account of one key, or every account of the sandbox that runs here. */
import { listNewestAccounts } from '../accounts/store/accounts.ts';
import { composeWebhooks } from '../app/composition/webhooks.ts';
import { openAccounts, openWorld, systemClock } from '../app/composition/context.ts';
import type { Account, Principal } from '../domain/account.ts';
import { createEndpoint, deleteEndpoint, listEndpoints } from '../webhooks/endpoints.ts';
import type { WebhookEvent } from '../webhooks/events.ts';
import { openProcess, type Cli } from './context.ts';
import type { ApiClient, EndpointJson } from './webhooks-client.ts';

const ENDPOINTS = '/api/webhooks/endpoints';
const MAX_OWN_ENDPOINTS = 100;
/** Each gets an endpoint, and a sandbox of a developer has a few accounts. */
export const MAX_FOLLOWED = 100;

interface Listed {
  readonly id: string;
  readonly url: string;
}

/** An account with its endpoints. */
export interface Followed {
  readonly id: string;
  readonly name: string;
  list(): Promise<readonly Listed[]>;
  create(
    url: string,
    events: readonly WebhookEvent[],
  ): Promise<{ readonly id: string; readonly secret: string }>;
  delete(endpointId: string): Promise<unknown>;
}

export interface Source {
  /** For people: whose events these are, and where. */
  readonly what: string;
  /** Accounts may be added while a listener runs. */
  readonly accounts: () => Promise<readonly Followed[]>;
  readonly close: () => Promise<void>;
}

/** With a key: as any merchant's program. */
export function followKey(client: ApiClient, name: string, what: string): Source {
  const one: Followed = {
    id: 'key',
    name,
    list: () => client.list<EndpointJson>(`${ENDPOINTS}?limit=${MAX_OWN_ENDPOINTS}`),
    create: (url, events) => client.call('POST', ENDPOINTS, { url, events }),
    delete: (id) => client.call('DELETE', `${ENDPOINTS}/${id}`),
  };
  return { what, accounts: () => Promise.resolve([one]), close: () => Promise.resolve() };
}

/**
 * Every account in the test environment, by the settings that npm start leaves for its owner's commands. Keys
 * are stored as hashes, so endpoints are made in the database. The live environment is never opened.
 */
export function followAll(cli: Cli, settings: Readonly<Record<string, string>>, apiUrl: string): Source {
  const context = openProcess(cli, 'command', settings);
  const [accounts, db] = [openAccounts(context), openWorld(context, context.config.worlds.test)];
  const deps = { db, accounts, clock: systemClock, ...composeWebhooks(context, 'test', systemClock) };
  const followed = (account: Account): Followed => {
    const principal = principalOf(account);
    return {
      id: account.id,
      name: account.name,
      list: async () => (await listEndpoints(deps, principal, { page: 1, limit: MAX_OWN_ENDPOINTS })).items,
      create: (url, events) => createEndpoint(deps, principal, { url, events }),
      delete: (id) => deleteEndpoint(deps, principal, id),
    };
  };
  return {
    what: `every account in the test environment at ${apiUrl}`,
    accounts: async () => (await listNewestAccounts(accounts, MAX_FOLLOWED)).toReversed().map(followed),
    close: async () => {
      await Promise.all([accounts.destroy(), db.destroy()]);
    },
  };
}

const principalOf = (account: Account): Principal => ({
  ...{ account, keyId: '', maker: 'webhooks listen', environment: 'test', scopes: ['purchase'] },
  ...{ allowedAddresses: [], mayInstall: false },
});
