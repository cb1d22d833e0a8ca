/** Every request of the dashboard. */
import { connectApi, connectOps } from 'simway-client';

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

/** For merchants' pages: the reseller API, with a session in place of a key. */
export const api = connectApi({ credentials: 'same-origin' }, ({ headers }) => {
  if (!place) return;
  headers.set('Simway-Account', place.accountId);
  headers.set('Simway-Environment', place.environment);
});

/** For the pages of finance, operations and administrators. */
export const ops = connectOps({ credentials: 'same-origin' });
