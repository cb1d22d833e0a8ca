import type { ColumnType, Generated } from 'kysely';
import type { AccountType, Environment, Plan, Scope } from '../../domain/account.ts';
import type { AccountCurrency } from '../../domain/money.ts';
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

export interface AccountsTable {
  id: string;
  type: AccountType;
  name: string;
  email: string;
  currency: AccountCurrency;
  plan: Plan;
  enterprise_requests_per_minute: number | null;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface ApiKeysTable {
  id: string;
  account_id: string;
  environment: Environment;
  key_sha256: Buffer;
  display_prefix: string;
  last_four: string;
  scopes: Scope[];
  allowed_addresses: string[];
  company_name: string;
  website_url: string;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Generated<Date>;
  changed_at: Generated<Date>;
}

export interface AuditLogTable {
  id: Generated<bigint>;
  at: Generated<Date>;
  actor: string;
  action: string;
  subject: string;
  detail: ColumnType<unknown, string, string>;
}

export interface AccountsDatabase {
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  audit_log: AuditLogTable;
  people: PeopleTable;
  sessions: SessionsTable;
}
