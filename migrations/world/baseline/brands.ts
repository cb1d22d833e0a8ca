/** How shops look to their travellers and buyers, and what they offer them. */
import { sql } from 'kysely';
import { LOGO_TYPES } from '../../../src/domain/brand.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const brands = ({ role }: World) => sql`
  create table brands (
    account_id text primary key,
    shop_name text check (length(shop_name) between 1 and 60),
    accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
    support_email text,
    support_url text,
    support_phone text,
    logo_bytes bytea check (octet_length(logo_bytes) <= 131072),
    logo_type text ${oneOf('logo_type', LOGO_TYPES)},
    -- Of the bytes, in hexadecimal digits: its address.
    logo_hash text check (logo_hash ~ '^[0-9a-f]{64}$'),
    -- Travellers are offered top-ups in advance where both are set.
    auto_top_up_price_text text,
    auto_top_up_max integer check (auto_top_up_max between 1 and 20),
    changed_at timestamptz not null,
    changed_by text not null,
    check ((logo_bytes is null) = (logo_type is null) and (logo_bytes is null) = (logo_hash is null)),
    check ((auto_top_up_price_text is null) = (auto_top_up_max is null))
  );
  create index brands_by_logo on brands (logo_hash) where logo_hash is not null;

  grant insert, update on brands to ${role};
`;
