/** Every request of the dashboard. The types come from the service's own OpenAPI documents (`npm run client`). */
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths as ApiPaths } from './generated/api.ts';
import type { paths as OpsPaths } from './generated/ops.ts';
import { Refusal, refusalFrom } from './refusal.ts';

/** Account and environment of each request; the session only identifies the user. */
export interface Place {
  readonly accountId: string;
  readonly environment: 'live' | 'test';
}

let place: Place | undefined;

/** Called when the account or the environment in the URL changes, before the first request for it. */
export function setPlace(next: Place | undefined): void {
  place = next;
}

const sendsPlace: Middleware = {
  onRequest({ request }) {
    if (!place) return;
    request.headers.set('Simway-Account', place.accountId);
    request.headers.set('Simway-Environment', place.environment);
  },
};

/** Throws every error response, so that callers only see successful ones. */
const throwsRefusals: Middleware = {
  async onResponse({ response }) {
    if (response.ok || response.status === 304) return;
    throw await refusalFrom(response);
  },
  onError() {
    return new Refusal({
      status: 0,
      code: 'NO_CONNECTION',
      message: 'The service cannot be reached. Check your connection and try again.',
    });
  },
};

/** For merchants' pages: the reseller API, with a session in place of a key. */
export const api = createClient<ApiPaths>({ credentials: 'same-origin' });
api.use(sendsPlace, throwsRefusals);

/** For the pages of finance, operations and administrators. */
export const ops = createClient<OpsPaths>({ credentials: 'same-origin' });
ops.use(throwsRefusals);
