/** Alerts for operators, where they are sent, and what was sent. One open alert for each kind and subject. */
import { sql } from 'kysely';
import { ALERT_KINDS, ALERT_MESSAGES, CHANNEL_KINDS, SEVERITIES } from '../../../src/domain/alerts.ts';
import { oneOf } from '../../one-of.ts';
import type { World } from './world.ts';

export const alerts = ({ role }: World) => sql`
  -- ending_since: its condition is over since then. It is closed some time later, unless it comes back.
  create table operator_alerts (
    id bigint generated always as identity primary key,
    kind text not null ${oneOf('kind', ALERT_KINDS)},
    subject text not null,
    severity text not null ${oneOf('severity', SEVERITIES)},
    detail text not null,
    opened_at timestamptz not null default clock_timestamp(),
    told_at timestamptz not null default clock_timestamp(),
    ending_since timestamptz,
    closed_at timestamptz
  );
  create unique index operator_alert_open_once on operator_alerts (kind, subject) where closed_at is null;
  create index operator_alerts_closed on operator_alerts (closed_at) where closed_at is not null;

  -- The URL of a webhook is sealed, since it is the secret of its receiver. shown: an e-mail address, or the
  -- URL's host. No kinds: all.
  create table alert_channels (
    id text primary key check (id ~ '^channel-[0-9a-f]{32}$'),
    kind text not null ${oneOf('kind', CHANNEL_KINDS)},
    shown text not null,
    url_sealed bytea,
    min_severity text not null ${oneOf('min_severity', SEVERITIES)},
    kinds text[] not null,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    check ((kind = 'WEBHOOK') = (url_sealed is not null))
  );

  -- Written with the change of its alert, and kept until it is sent. A test has no alert.
  create table alert_messages (
    id bigint generated always as identity primary key,
    alert_id bigint references operator_alerts (id) on delete cascade,
    channel_id text not null references alert_channels (id) on delete cascade,
    what text not null ${oneOf('what', ALERT_MESSAGES)},
    severity text not null ${oneOf('severity', SEVERITIES)},
    title text not null,
    detail text not null,
    attempts integer not null default 0,
    next_attempt_at timestamptz default clock_timestamp(),
    sent_at timestamptz,
    failure text,
    created_at timestamptz not null default clock_timestamp(),
    check ((sent_at is null) = (next_attempt_at is not null))
  );
  create index alert_messages_due on alert_messages (next_attempt_at) where sent_at is null;
  create index alert_messages_by_channel on alert_messages (channel_id, id);
  create index alert_messages_by_alert on alert_messages (alert_id);

  -- Purchases that failed at the supplier, for the alert about them: few.
  create index purchases_refused on purchases (closed_at)
    where status = 'FAILED' and reason in ('SUPPLIER_REFUSED', 'PACKAGE_UNAVAILABLE', 'PRICE_CHANGED', 'PACKAGE_WITHDRAWN');

  grant insert, update (detail, told_at, ending_since, closed_at), delete on operator_alerts to ${role};
  grant insert, update (url_sealed), delete on alert_channels to ${role};
  grant insert, update (attempts, next_attempt_at, sent_at, failure), delete on alert_messages to ${role};
`;
