/** How a path names an eSIM. */
import { isId } from '../../domain/ids.ts';
import type { PathParameter } from '../../platform/http/route.ts';

export const esimId: PathParameter = {
  description: 'The `_id` of an eSIM order',
  example: 'esim-0f8fad5bd9cb469fa16570867728950e',
  isPossible: (text) => isId('esim', text),
  notFound: { code: 'ESIM_NOT_FOUND', message: 'eSIM not found' },
};
