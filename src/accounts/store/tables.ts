import type { Generated } from 'kysely';
import type { Role } from '../roles.ts';

export interface PeopleTable {
  id: string;
  /** In lower case. */
  email: string;
  name: string;
  role: Role;
  password_hash: string;
  /** The password is a one-time password that expires then. */
  one_time_until: Date | null;
  failed_logins: Generated<number>;
  locked_until: Date | null;
  disabled_at: Date | null;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface SessionsTable {
  token_sha256: Buffer;
  person_id: string;
  address: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
}
