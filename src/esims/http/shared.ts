/** How a path names an eSIM. */
import { idParameter } from '../../platform/http/fields.ts';

export const esimId = idParameter(
  'esim',
  'The `_id` of an eSIM order',
  'eSIM not found',
  'ESIM_NOT_FOUND',
  '0f8fad5bd9cb469fa16570867728950e',
);
