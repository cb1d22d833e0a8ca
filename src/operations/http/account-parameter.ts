import { isId } from '../../domain/ids.ts';
import type { PathParameter } from '../../platform/http/route.ts';

export const ACCOUNTS = '/ops/accounts';
export const ONE_ACCOUNT = `${ACCOUNTS}/{accountId}`;

export const accountId: PathParameter = {
  description: 'The `accountId` of an account',
  example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7',
  isPossible: (text) => isId('account', text),
  notFound: { code: 'NOT_FOUND', message: 'No such account' },
};
