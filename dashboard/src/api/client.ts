import { bodyOf, connectApi, connectOps, refusalFrom } from 'simway-client';
import type { components as Api, paths as ApiPaths } from 'simway-client/generated/api.ts';
import type { components as Ops, paths as OpsPaths } from 'simway-client/generated/ops.ts';
import { askForPassword } from './confirmation.ts';

export { bodyOf, dataOf, Refusal } from 'simway-client';

export type ApiSchemas = Api['schemas'];
export type OpsSchemas = Ops['schemas'];

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

const CONFIRMATION_REQUIRED = 'CONFIRMATION_REQUIRED';
/** In place of the service’s own words, which are for programs. */
const NOT_SENT = {
  error: { code: CONFIRMATION_REQUIRED, message: 'Nothing was done: it needs your password' },
};

/** What the service does only shortly after the password was given is sent again once the person gave it. */
async function fetchConfirmed(request: Request): Promise<Response> {
  // Not a clone: a browser sends the body of one as a stream, without its length.
  const body = (await request.text()) || undefined;
  const send = (): Promise<Response> => fetch(new Request(request, { body }));
  const response = await send();
  if (response.status !== 403) return response;
  const { code } = await refusalFrom(response);
  if (code !== CONFIRMATION_REQUIRED) return response;
  return (await askForPassword()) ? send() : Response.json(NOT_SENT, response);
}

const options = { credentials: 'same-origin', fetch: fetchConfirmed } as const;

/** For merchants' pages: the reseller API, with a session in place of a key. */
export const api = connectApi(options, ({ headers }) => {
  if (!place) return;
  headers.set('Simway-Account', place.accountId);
  headers.set('Simway-Environment', place.environment);
});

/** For the pages of finance, operations and administrators. */
export const ops = connectOps(options);

type Got<Body> = Body extends { readonly success: true; readonly data: infer Data } ? Data : Body;

interface Reading<Parameters, Body> {
  readonly get: {
    readonly parameters: Parameters;
    readonly responses: { readonly 200: { readonly content: { readonly 'application/json': Body } } };
  };
}

export type PathIn<Paths> = {
  [Path in keyof Paths]: Paths[Path] extends Reading<unknown, unknown> ? Path : never;
}[keyof Paths];

type ParametersOf<Paths, Path extends keyof Paths> =
  Paths[Path] extends Reading<infer Parameters, unknown> ? Parameters : never;

export type ParamsOf<Paths, Path extends keyof Paths> = Pick<
  ParametersOf<Paths, Path> & { readonly path?: unknown; readonly query?: unknown },
  'path' | 'query'
>;

/** What is read: what an answer in the general envelope holds, or the body of another one. */
export type AnswerOf<Paths, Path extends keyof Paths> =
  Paths[Path] extends Reading<unknown, infer Body> ? Got<Body> : never;

interface Reader {
  GET(path: never, init: never): Promise<{ readonly data?: unknown }>;
}

const readerOf =
  <Paths>(client: Reader) =>
  async <Path extends PathIn<Paths>>(
    path: Path,
    params: ParamsOf<Paths, Path>,
  ): Promise<AnswerOf<Paths, Path>> => {
    const body = await bodyOf(client.GET(path as never, { params } as never));
    return ('success' in body && 'data' in body ? body.data : body) as AnswerOf<Paths, Path>;
  };

export const readApi = readerOf<ApiPaths>(api);
export const readOps = readerOf<OpsPaths>(ops);
