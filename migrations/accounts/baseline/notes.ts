/** What operators note about accounts and purchases. Guarantee: a note is never changed and never removed. */
import { sql } from 'kysely';

export const notes = () => sql`
  -- subject: the id of an account, a purchase or a funding.
  create table notes (
    id bigint generated always as identity primary key,
    subject text not null,
    text text not null check (length(text) between 1 and 2000),
    written_by text not null,
    written_at timestamptz not null default clock_timestamp()
  );
  create index notes_by_subject on notes (subject, id desc);

  create function note_stays() returns trigger language plpgsql as $$
    begin
      raise exception 'a note stays as it was written'
        using errcode = 'restrict_violation', constraint = 'note_stays';
    end $$;
  create trigger note_stays before update or delete or truncate on notes
    for each statement execute function note_stays();

  grant select, insert on notes to simway_accounts;
`;
