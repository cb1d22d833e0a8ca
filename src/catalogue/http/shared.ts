/** A region, as lists and figures show it. */
import { z } from 'zod';
import { REGION_TYPES } from '../rules.ts';

export const regionSchema = z
  .object({
    regionCode: z.string().meta({ description: 'The value for `regionCode` elsewhere', example: 'NG' }),
    regionName: z.string().meta({ example: 'Nigeria' }),
    regionType: z.enum(REGION_TYPES),
    countryCode: z
      .string()
      .nullable()
      .meta({ description: 'ISO 3166-1 alpha-2; null for regional and global' }),
    flagUrl: z.string(),
    packageCount: z.number().int().meta({ description: 'Packages on sale in the region' }),
  })
  .meta({ id: 'Region' });
