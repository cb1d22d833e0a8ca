/**
 * Typed calls of every documented route. The types come from the service's own OpenAPI documents (`npm run
 * client`).
 */
import createClient, { type ClientOptions, type Middleware } from 'openapi-fetch';
import type { paths as ApiPaths } from './generated/api.ts';
import type { paths as OpsPaths } from './generated/ops.ts';
import { Refusal, refusalFrom } from './refusal.ts';

export { bodyOf, dataOf } from './data-of.ts';
export { Refusal, refusalFrom } from './refusal.ts';

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

/** Changes each request before it is sent. */
export type BeforeRequest = (request: Request) => void;

function connect<Paths extends object>(options: ClientOptions, beforeRequest?: BeforeRequest) {
  const client = createClient<Paths>(options);
  if (beforeRequest) client.use({ onRequest: ({ request }) => beforeRequest(request) });
  client.use(throwsRefusals);
  return client;
}

/** The reseller API, for keys, and for members with a session in place of a key. */
export const connectApi = (options: ClientOptions, beforeRequest?: BeforeRequest) =>
  connect<ApiPaths>(options, beforeRequest);

/** What finance, operations and administrators use. */
export const connectOps = (options: ClientOptions) => connect<OpsPaths>(options);
export type Ops = ReturnType<typeof connectOps>;
