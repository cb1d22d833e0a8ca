/**
 * POST /transaction/initialize: a charge that a person pays on the hosted page. Verify says `abandoned` until
 * the page is opened.
 */
import type { GatewayContext } from '../context.ts';
import { invalid } from '../errors.ts';
import { optionalUrl, type Params } from '../params.ts';
import {
  CHANNELS,
  channelsOf,
  isTransferable,
  noChannel,
  requireTransferable,
  type Channel,
  type Currency,
} from '../rules.ts';
import { begin, requireUnused, wantedIn } from './new-transaction.ts';
import type { ApiRequest } from './operation.ts';

/** The channels asked for; all when none are. */
function wantedChannels(params: Params): readonly Channel[] {
  const channels = params['channels'] ?? CHANNELS;
  if (!Array.isArray(channels) || channels.length === 0) throw invalid('channels must be a list');
  const unknown = (channels as unknown[]).find((name) => !CHANNELS.some((channel) => channel === name));
  if (unknown !== undefined) throw invalid(`channels may hold ${CHANNELS.join(', ')}`);
  return channels as Channel[];
}

/** What the page will offer: asked for, served in this currency, and large enough for a transfer. */
function offered(context: GatewayContext, params: Params, currency: Currency, amount: number): Channel[] {
  const wanted = wantedChannels(params);
  const served = channelsOf(context.integration, currency).filter((channel) => wanted.includes(channel));
  if (served.length === 0) throw noChannel();
  if (served.every((channel) => channel === 'bank_transfer')) requireTransferable(amount, currency);
  return served.filter((channel) => channel !== 'bank_transfer' || isTransferable(amount, currency));
}

/** `/transaction/initialize`. */
export function initialize(context: GatewayContext, { body }: ApiRequest) {
  const wanted = wantedIn(context, body, 'Email Address is required');
  const callbackUrl = optionalUrl(body, 'callback_url') ?? null;
  const channels = offered(context, body, wanted.currency, wanted.requested);
  requireUnused(context, wanted.reference);
  const row = context.database.transact(() =>
    begin(context, wanted, () => ({
      origin: 'initialize',
      status: 'abandoned',
      channel: channels.length === 1 ? (channels[0] ?? null) : null,
      channels,
      callbackUrl,
    })),
  );
  return {
    message: 'Authorization URL created',
    data: {
      authorization_url: context.pageUrl(row.accessCode),
      access_code: row.accessCode,
      reference: row.reference,
    },
  };
}
