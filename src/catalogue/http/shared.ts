/** A region, as lists and figures show it. */
import { z } from 'zod';
import { text, count, namedObject } from '../../platform/http/answer-fields.ts';
import { REGION_TYPES } from '../rules.ts';

export const regionSchema = namedObject('Region', {
  regionCode: text('The value for `regionCode` elsewhere', 'NG'),
  regionName: z.string().meta({ example: 'Nigeria' }),
  regionType: z.enum(REGION_TYPES),
  countryCode: text('ISO 3166-1 alpha-2; null for regional and global').nullable(),
  flagUrl: z.string(),
  packageCount: count('Packages on sale in the region'),
});
